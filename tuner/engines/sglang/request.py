"""A scenario in the words of SGLang's argument resolution."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from backends.allowed import release
from backends.gpu import Gpu
from backends.model import Attention, Model
from store.scenario import Engine, Scenario, Speculation
from tuner.engines.sglang.memory import MIB, tier_for
from tuner.engines.sglang.platforms import ARM64
from tuner.engines.sglang.resolver.request import Draft, Graphs, Machine, ModelFacts, Request
from tuner.engines.sglang.resolver.versions import nearest

# Whose checkpoints carry the indexer of sparse attention (sglang/srt/configs/model_config.py, is_deepseek_dsa asks for index_topk).
SPARSE = (
    *("DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM", "Glm5NextForConditionalGeneration", "Dots3NoteForCausalLM", "HYV4ForCausalLM"),
)
KDA = ("KimiLinearForCausalLM", "KimiK3ForConditionalGeneration", "Glm5NextForConditionalGeneration")
WINDOWED = ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM")
# Classes that SGLang serves under another's name, and by its rules (sglang/srt/configs/olmo3.py).
SERVED_AS = {"Olmo3ForCausalLM": "Olmo2ForCausalLM"}
OWN_DRAFTS = ("NGRAM", "UNO")  # draft without a checkpoint


def request_for(scenario: Scenario, rules: str, packages: Mapping[str, str] | None = None) -> Request:
    """``rules`` is a release, for which the nearest of `versions.READ` stands; ``packages`` are the import names found where the worker
    runs, None = nobody has looked, and FlashInfer is taken to be there. What a scenario does not say (inner backends, unified memory, ...)
    is left as SGLang has it."""
    flashinfer = packages is None or "flashinfer" in packages
    return _request(scenario.model, scenario.gpu, scenario.engine, nearest(rules), flashinfer)


@lru_cache(maxsize=64)
def _request(model: Model, gpu: Gpu, engine: Engine, rules: str, flashinfer: bool) -> Request:
    """Remembered: for one plan it is asked for a dozen times."""
    return Request(
        version=rules,
        model=facts_of(model, engine.context_length),
        machine=machine_of(gpu, flashinfer),
        attention_backend=engine.attention_backend,
        prefill_attention_backend=engine.prefill_attention_backend,
        decode_attention_backend=engine.decode_attention_backend,
        page_size=engine.page_size,
        kv_cache_dtype=engine.kv_cache_dtype,
        draft=draft_of(engine.speculation),
        deterministic="deterministic" in engine.features,
        multi_item_scoring="multi_item_scoring" in engine.features,
        mem_fraction_static=engine.mem_fraction_static,
        chunk=tier_for(gpu.memory_bytes, rules, gpu.kind).chunk,
        tensor_parallel=engine.tensor_parallel,
        attn_dp=engine.attn_dp_size,
        attn_cp=engine.attn_cp_size,
        dcp=engine.dcp_size,
        role=engine.role.value,
        pipeline_parallel=engine.pipeline_parallel,
        graphs=Graphs(off=True) if engine.disable_cuda_graph else Request.graphs,
        hierarchical_cache=engine.hierarchical_cache,
    )


@lru_cache(maxsize=64)
def machine_of(gpu: Gpu, flashinfer: bool) -> Machine:
    return Machine(
        kind=gpu.kind,
        sm=gpu.sm,
        cuda=None if gpu.cuda is None else release(gpu.cuda),
        memory_mib=None if gpu.memory_bytes is None else gpu.memory_bytes / MIB,
        flashinfer=gpu.kind == "cuda" and flashinfer,
        amx=gpu.amx,
        arm64=gpu.arch in ARM64,
    )


@lru_cache(maxsize=64)
def facts_of(model: Model, context_length: int | None = None) -> ModelFacts:
    """The geometry says widths, sinks and heads; what else SGLang asks a checkpoint is taken from the architecture's name."""
    latent = model.attention is Attention.MLA
    first = model.layers[0]
    return ModelFacts(
        architecture=SERVED_AS.get(model.architecture, model.architecture),
        mla=latent,
        sparse=model.architecture in SPARSE,
        sinks=model.sinks,
        unequal_widths=not latent and any(kind.head_dim != kind.value_head_dim for kind in model.layers),
        kv_heads=first.query_heads if latent else first.kv_heads,  # a latent checkpoint declares as many KV heads as query heads
        context_length=context_length or model.context_length,
        windowed=model.architecture in WINDOWED and any(kind.sliding_window for kind in model.layers),
        mamba_layers=model.other_layers > 0,
        kda=model.architecture in KDA,
    )


def draft_of(speculation: Speculation) -> Draft:
    """A scenario names no draft checkpoint: where the algorithm needs one, it is there."""
    algorithm = speculation.algorithm
    own = algorithm is None or algorithm.upper() in OWN_DRAFTS
    return Draft(
        algorithm=algorithm,
        topk=speculation.topk,
        steps=speculation.steps,
        draft_tokens=speculation.draft_tokens,
        attention_backend=speculation.draft_backend,
        attention_mode=speculation.attention_mode or "prefill",
        model=not own,
        uno_lora=algorithm == "UNO",
    )

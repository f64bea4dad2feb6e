"""Settings that SGLang takes without a word: ones that it never acts on, and a draft's backend that ends its worker at the start."""

from __future__ import annotations

from collections.abc import Iterator

from store.scenario import Engine, Scenario
from tuner.engines.sglang.windows import pooled_windows
from tuner.suggest import instead

# sglang/srt/speculative/draft_utils.py, DraftBackendFactory.create_draft_extend_backend
_DRAFTS = (
    *("flashinfer", "triton", "intel_amx", "aiter", "fa3", "fa4", "flashmla", "trtllm_mha", "trtllm_mla", "cutedsl_mla"),
    *("dsa", "nsa", "ascend", "dsv4"),
)
DRAFTS = {
    "0.5.16": (*_DRAFTS, "tokenspeed_mla"),
    "0.5.22": (*_DRAFTS, "tokenspeed_mla", "intel_xpu"),
    "0.5.23": (*_DRAFTS, "intel_xpu"),
}
DRAFTED_SO = ("EAGLE", "EAGLE3", "STANDALONE", "NEXTN")
NO_DRAFT = (None, "NGRAM", "NONE")  # no model that drafts, hence no attention of one
POOLS_OF_THEIR_OWN = ("DeepseekV4ForCausalLM",)  # sglang/srt/arg_groups/model_overrides/deepseek_v4.py
GRAPH_SIZES = ("cuda_graph_max_bs", "cuda_graph_bs")


def unheard(scenario: Scenario) -> Iterator[str]:
    """A sentence for each setting that changes nothing."""
    engine, architecture = scenario.engine, scenario.model.architecture
    pooled = architecture in POOLS_OF_THEIR_OWN or pooled_windows(scenario.model, engine)
    if engine.swa_full_tokens_ratio is not None and not pooled:
        one_pool = f"so served, SGLang keeps one pool for all layers of {architecture}"
        yield _has_no_say("swa_full_tokens_ratio", engine.swa_full_tokens_ratio, one_pool)
    for name in GRAPH_SIZES if engine.disable_cuda_graph else ():
        if value := getattr(engine, name):
            yield _has_no_say(
                name, value if isinstance(value, int) else list(value), "SGLang captures no graph beside engine.disable_cuda_graph=true"
            )
    if engine.speculation.draft_backend is not None and algorithm(engine) in NO_DRAFT:
        drafts = f"engine.speculative.algorithm={algorithm(engine)} drafts without a model"
        yield _has_no_say("speculative.draft_backend", engine.speculation.draft_backend, drafts)


def ends_at_its_start(scenario: Scenario, rules: str) -> Iterator[str]:
    """Why a server whose arguments resolve would still not serve."""
    engine = scenario.engine
    draft, known = engine.speculation.draft_backend, DRAFTS[rules]
    if draft is not None and algorithm(engine) in DRAFTED_SO and draft not in known:
        yield (
            f"SGLang {rules} would end at its start: {algorithm(engine)} does not draft with engine.speculative.draft_backend={draft}; "
            f"{instead(draft, known)} (sglang/srt/speculative/draft_utils.py)"
        )


def algorithm(engine: Engine) -> str | None:
    """As SGLang compares it."""
    name = engine.speculation.algorithm
    return None if name is None else name.upper()


def _has_no_say(name: str, value: object, because: str) -> str:
    return f"engine.{name}={value} changes nothing: {because}"

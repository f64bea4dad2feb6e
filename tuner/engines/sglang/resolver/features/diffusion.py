"""Diffusion language models: a block of tokens is filled at once, which decides about backend, pages and graphs.

Source: sglang/srt/arg_groups/dllm_hook.py; sglang/srt/arg_groups/overrides.py, _dllm_attention_backend and _dllm_page_size.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import NPU, OVERLAP, RADIX, ROCM, architecture, no
from tuner.engines.sglang.resolver.graphs import GRAPHS_OFF
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets
from tuner.engines.sglang.resolver.request import Request

BACKEND = "sglang/srt/arg_groups/overrides.py, _dllm_attention_backend"
PAGE = "sglang/srt/arg_groups/overrides.py, _dllm_page_size"
HOOK = "sglang/srt/arg_groups/dllm_hook.py, handle_dllm_inference"
CONFIG = "sglang/srt/dllm/config.py, DllmConfig.from_server_args"
RENOISE = "sglang/srt/dllm/algorithm/gemma4_renoise.py, Gemma4Renoise.configure_server_args"
BLOCKS = {"LLaDA2MoeModelLM": 32, "SDARForCausalLM": 4, "SDARMoeForCausalLM": 4}
GEMMA = "DiffusionGemmaForBlockDiffusion"
GEMMA_ALGORITHM = "Gemma4Renoise"


def block_size(request: Request) -> int | None:
    """Tokens that are filled at once; None for a model that does not diffuse."""
    if request.model.architecture == GEMMA and request.version != "0.5.16":
        return request.model.canvas or 256
    return BLOCKS.get(request.model.architecture)


DIFFUSION = Condition("--dllm-algorithm", lambda r, s: r.dllm_algorithm is not None)
RENOISING = Condition(f"{GEMMA_ALGORITHM}", lambda r, s: r.dllm_algorithm == GEMMA_ALGORITHM)

ON_TRITON_OR_FA4 = Condition(
    "base triton or fa4, sides too or unset",
    lambda r, s: s.base in ("triton", "fa4") and s.prefill in (None, "triton", "fa4") and s.decode in (None, "triton", "fa4"),
)

DECODE_GRAPH_ON = Condition("decode graph on", lambda r, s: s.decode_graph != "disabled")

BACKENDS = (
    Rule("dllm.gemma-keeps", (RENOISING, ON_TRITON_OR_FA4), sets(), "Its masks are in these two.", BACKEND, since="0.5.22"),
    Rule(
        "dllm.gemma",
        (RENOISING,),
        sets(base="triton", prefill="triton", decode="triton"),
        "Its masks are in Triton; the user's choice is replaced.",
        BACKEND,
        since="0.5.22",
    ),
    Rule(
        "dllm.rocm-keeps",
        (ROCM, Condition("base triton or aiter", lambda r, s: s.base in ("triton", "aiter"))),
        sets(),
        "Both know blocks.",
        BACKEND,
    ),
    Rule("dllm.rocm", (ROCM,), sets(base="triton"), "Triton knows blocks on ROCm; the user's choice is replaced.", BACKEND),
    Rule("dllm.npu", (NPU,), sets(base="ascend"), "An Ascend NPU has one backend.", BACKEND),
    Rule(
        "dllm.graph",
        (DECODE_GRAPH_ON,),
        sets(base="flashinfer"),
        "Blocks are captured with FlashInfer only; the user's choice is replaced.",
        BACKEND,
    ),
)

REST = (
    Rule(
        "dllm.gemma-device",
        (RENOISING, Condition("neither CUDA nor ROCm", lambda r, s: r.machine.kind not in ("cuda", "rocm"))),
        Refuses("DiffusionGemma runs on CUDA and ROCm only; choose another model", "supports CUDA/ROCm GPU execution only"),
        "Its kernels are GPU kernels.",
        RENOISE,
        since="0.5.22",
    ),
    Rule(
        "dllm.gemma-model",
        (RENOISING, no(architecture(GEMMA))),
        Refuses("Gemma4Renoise is DiffusionGemma's; choose another --dllm-algorithm", "DiffusionGemma requires tied word embeddings"),
        "Its noise is its own, and the first thing looked at is how the model ties its embeddings.",
        RENOISE,
        since="0.5.22",
    ),
    Rule(
        "dllm.gemma-full-graph",
        (RENOISING, Condition("a full prefill graph off fa4", lambda r, s: s.prefill_graph == "full" and s.prefill_side != "fa4")),
        Refuses(
            "DiffusionGemma captures prefill whole on fa4 only; drop --cuda-graph-backend-prefill",
            "FULL prefill CUDA graphs require prefill",
        ),
        "Only fa4 captures its masks.",
        RENOISE,
        since="0.5.22",
    ),
    Rule(
        "dllm.gemma-settings",
        (RENOISING,),
        Computes(
            "no radix cache, no chunks, no prefill graph but a full one",
            lambda r, s: {"radix_cache": False, "chunk": -1, "prefill_graph": s.prefill_graph if s.prefill_graph == "full" else "disabled"},
        ),
        "A canvas is filled as one.",
        RENOISE,
        since="0.5.22",
    ),
    Rule("dllm.rocm-graphs", (ROCM,), GRAPHS_OFF, "Blocks are not captured on ROCm.", HOOK),
    Rule(
        "dllm.overlap",
        (OVERLAP,),
        sets(overlap=False),
        "A block is scheduled when the last one is filled.",
        "sglang/srt/arg_groups/overrides.py, _dllm_overlap_disable",
    ),
    Rule(
        "dllm.unknown",
        (Condition("a model that does not diffuse", lambda r, s: block_size(r) is None),),
        Refuses("{r.model.architecture} is no diffusion model; drop --dllm-algorithm", "Unknown diffusion LLM"),
        "Its block size is unknown.",
        CONFIG,
    ),
    Rule(
        "dllm.algorithm",
        (architecture(GEMMA), no(RENOISING)),
        Refuses("DiffusionGemma diffuses with Gemma4Renoise only; set --dllm-algorithm Gemma4Renoise", "requires the Gemma4Renoise"),
        "Its noise is its own.",
        CONFIG,
        since="0.5.22",
    ),
    Rule(
        "dllm.page",
        (RADIX, Condition("a page that holds no whole blocks", lambda r, s: (s.page_size or 1) % (block_size(r) or 1) != 0)),
        Computes("page size of the block", lambda r, s: {"page_size": block_size(r)}),
        "A cached prefix ends with a block.",
        PAGE,
    ),
    Rule(
        "dllm.page-cap",
        (Condition("a page larger than the block", lambda r, s: (s.page_size or 1) > (block_size(r) or 1)),),
        Computes("page size of the block", lambda r, s: {"page_size": block_size(r)}),
        "A page must not outlast a block.",
        PAGE,
    ),
)

STEPS = (
    Step("diffusion backend", BACKENDS, first=True, when=(DIFFUSION,)),
    Step("diffusion", REST, when=(DIFFUSION,)),
)

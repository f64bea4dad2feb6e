"""What SGLang's default prefill graph cannot be combined with; a graph that the user wrote is left alone."""

from __future__ import annotations

from tuner.engines.sglang.resolver import architectures
from tuner.engines.sglang.resolver.conditions import (
    ATTN_CP,
    ATTN_DP,
    DCP,
    DETERMINISTIC,
    MLA,
    PIPELINE,
    PREFILL_GRAPH_ON,
    PREFILL_GRAPH_OPEN,
    architecture,
    kind,
    no,
    prefill_side,
)
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/cuda_graph_hook.py"
BREAKABLE = f"{HOOK}, disable_breakable_cudagraph_if_incompatible"
PIECEWISE = "sglang/srt/server_args.py, _disable_tc_piecewise_cudagraph_if_incompatible"
OFF = sets(prefill_graph="disabled")
MULTIMODAL = Condition("multimodal model", lambda r, s: r.model.architecture in architectures.MULTIMODAL[r.version])

BREAKABLE_SEEN = Condition(
    "one whose prefill was validated under breakable graphs",
    lambda r, s: r.model.architecture in architectures.BREAKABLE[r.version],
)

# sglang/srt/layers/cp/bcg.py, supports_prefill_cp_bcg, for the zigzag strategy
CP_CAPTURED = Condition(
    "a prefill split over all ranks and served by trtllm_mha",
    lambda r, s: r.attn_cp == r.tensor_parallel > 1 and r.pipeline_parallel == 1 and s.prefill_side == "trtllm_mha",
)


def _is(graph: str) -> Condition:
    return Condition(f"{graph} prefill graph", lambda r, s: s.prefill_graph == graph)


PIECEWISE_RULES = (
    Rule(
        "graph.piecewise-multimodal",
        (_is("breakable"), Condition("validated under piecewise graphs", lambda r, s: r.model.architecture in architectures.PIECEWISE)),
        sets(prefill_graph="tc_piecewise"),
        "These models' prefill was validated under piecewise graphs only.",
        "sglang/srt/server_args.py, _apply_cuda_graph_compatibility",
        until="0.5.16",
    ),
    Rule(
        "graph.piecewise-hardware",
        (_is("tc_piecewise"), kind("rocm", "npu", "mps", "xpu", "cpu")),
        OFF,
        "Piecewise graphs need CUDA.",
        PIECEWISE,
        until="0.5.16",
    ),
    Rule(
        "graph.piecewise-features",
        (
            _is("tc_piecewise"),
            Condition(
                "a feature that breaks piecewise graphs",
                lambda r, s: (
                    (DETERMINISTIC.holds(r, s) or r.role != "unified" or r.hierarchical_cache or r.dllm_algorithm is not None)
                    or r.attn_dp > 1
                    or r.attn_cp > 1
                    or r.dcp > 1
                    or r.pipeline_parallel > 1
                ),
            ),
        ),
        OFF,
        "torch.compile's pieces do not go with determinism, disaggregation, host caches, diffusion or most parallelism.",
        PIECEWISE,
        until="0.5.16",
    ),
    Rule(
        "graph.piecewise-models",
        (
            _is("tc_piecewise"),
            Condition(
                "a model that breaks piecewise graphs",
                lambda r, s: (
                    r.model.architecture in architectures.NO_PIECEWISE
                    or (MULTIMODAL.holds(r, s) and r.model.architecture not in architectures.PIECEWISE)
                ),
            ),
        ),
        OFF,
        "These models' prefill does not compile piecewise.",
        PIECEWISE,
        until="0.5.16",
    ),
)

BREAKABLE_RULES = (
    Rule(
        "graph.breakable-mla",
        (_is("breakable"), MLA),
        OFF,
        "An MLA prefill takes another path under breakable graphs.",
        BREAKABLE,
        until="0.5.16",
    ),
    Rule(
        "graph.breakable-dp",
        (_is("breakable"), ATTN_DP),
        OFF,
        "Breakable graphs under attention data parallelism were not validated.",
        BREAKABLE,
        until="0.5.16",
    ),
    Rule(
        "graph.breakable-pipeline",
        (_is("breakable"), PIPELINE),
        OFF,
        "With pipeline stages large captured buckets can be slower than eager ones.",
        f"{HOOK}, apply_cuda_graph_compatibility",
        since="0.5.22",
    ),
    Rule(
        "graph.breakable-kda",
        (
            _is("breakable"),
            Condition("KDA layers outside GLM-5-Next", lambda r, s: r.model.kda and r.model.architecture != architectures.GLM5_NEXT),
        ),
        OFF,
        "Linear layers of the KDA kind stay eager in prefill.",
        BREAKABLE,
        since="0.5.22",
    ),
    Rule(
        "graph.breakable-v4",
        (_is("breakable"), architecture("DeepseekV4ForCausalLM")),
        OFF,
        "DeepSeek-V4's indexer would pin its scratch memory in the captured pool.",
        BREAKABLE,
    ),
    Rule(
        "graph.breakable-cp-old",
        (_is("breakable"), ATTN_CP),
        OFF,
        "Gathers of a split prefill replay at the wrong size.",
        BREAKABLE,
        until="0.5.16",
    ),
    Rule(
        "graph.breakable-cp",
        (_is("breakable"), ATTN_CP, no(CP_CAPTURED)),
        OFF,
        "Gathers of a split prefill replay at the wrong size, except under trtllm_mha.",
        BREAKABLE,
        since="0.5.22",
    ),
    Rule("graph.breakable-dcp", (_is("breakable"), DCP), OFF, "The capture has no metadata for a context split over ranks.", BREAKABLE),
    Rule(
        "graph.breakable-multimodal",
        (_is("breakable"), MULTIMODAL, Condition(f"not {BREAKABLE_SEEN.words}", lambda r, s: not BREAKABLE_SEEN.holds(r, s))),
        OFF,
        "Replaying a prefill with image embeddings faults, except for models that were validated.",
        BREAKABLE,
    ),
)

CP_DEFAULT = Rule(
    "graph.cp-captured",
    (
        PREFILL_GRAPH_OPEN,
        CP_CAPTURED,
        no(DCP),
        Condition("not multimodal", lambda r, s: not MULTIMODAL.holds(r, s) or BREAKABLE_SEEN.holds(r, s)),
    ),
    sets(prefill_graph="breakable"),
    "Once the backend is known, a split prefill that can be captured is.",
    f"{HOOK}, apply_prefill_cp_cuda_graph_default",
    since="0.5.23",
)

CUDA_GRAPH = "sglang/srt/arg_groups/cuda_graph_hook.py, disable_prefill_cuda_graph_for_deepseek_trtllm_mla"

V3_GRAPH = Rule(
    "graph.trtllm-mla",
    (architecture("DeepseekV3ForCausalLM"), prefill_side("trtllm_mla"), PREFILL_GRAPH_OPEN, PREFILL_GRAPH_ON),
    sets(prefill_graph="disabled"),
    "Under a captured prefill trtllm_mla falls back to FlashAttention, which is slower.",
    CUDA_GRAPH,
)

V3_STEP = Step("prefill graph of DeepSeek-V3", (V3_GRAPH,))
CP_STEP = Step("split prefill", (CP_DEFAULT,))
STEPS = (
    Step("piecewise graphs", PIECEWISE_RULES, when=(PREFILL_GRAPH_OPEN,)),
    Step("breakable graphs", BREAKABLE_RULES, when=(PREFILL_GRAPH_OPEN,)),
)

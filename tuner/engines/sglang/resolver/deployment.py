"""What a deployment's role and its split over ranks settle."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_CP, DCP, NPU, OVERLAP, PIPELINE, RADIX, SPECULATION, kind, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/model_hook.py, handle_model_specific_adjustments"

ROLE_RADIX = Rule(
    "role.decode-radix",
    (Condition("decode server", lambda r, s: r.role == "decode"), RADIX),
    sets(radix_cache=False),
    "A decode server gets its keys sent and shares none, unless told to.",
    "sglang/srt/arg_groups/pd_disaggregation_hook.py, handle_pd_disaggregation",
)

DCP_OLD = "sglang/srt/server_args.py, _handle_dcp_validation"

SPLIT_RULES = (
    Rule(
        "split.both",
        (ATTN_CP,),
        Refuses("--dcp-size does not go with --enable-prefill-cp; drop one", "does not support --enable-prefill-cp"),
        "A rank holds its part of the context in one way only.",
        "sglang/srt/arg_groups/parallel_hook.py, handle_decode_context_parallelism",
        since="0.5.22",
    ),
    Rule(
        "split.device",
        (no(kind("cuda", "rocm")),),
        Refuses("--dcp-size is for NVIDIA and ROCm; drop it", "is currently only supported on the AMD HIP platform"),
        "Only there were the parts of a split context merged.",
        DCP_OLD,
        until="0.5.16",
    ),
    Rule(
        "split.drafts",
        (kind("cuda"), SPECULATION),
        Refuses("--dcp-size takes no speculation on NVIDIA in SGLang {r.version}; drop one", "does not support any speculative algorithm"),
        "Drafts were validated on ROCm only.",
        DCP_OLD,
        until="0.5.16",
    ),
)

NPU_SPLIT = Rule(
    "npu.context-split",
    (NPU, DCP, Condition("no DeepSeek sparse attention", lambda r, s: not r.model.sparse)),
    Refuses("decode context parallelism on an NPU is for DeepSeek's sparse models; drop --dcp-size", "NPU decode context parallelism"),
    "No other NPU kernel merges the ranks' parts.",
    HOOK,
    since="0.5.22",
)

PIPELINE_OVERLAP = Rule(
    "pipeline.overlap",
    (PIPELINE, OVERLAP),
    sets(overlap=False),
    "Pipeline stages schedule one after the other.",
    "sglang/srt/arg_groups/overrides.py, _pipeline_parallel_overlap_disable",
)

ROLE_STEP = Step("prefix cache by role", (ROLE_RADIX,))
SPLIT_STEP = Step("context split over ranks", SPLIT_RULES, when=(DCP,))
NPU_STEP = Step("context split on an NPU", (NPU_SPLIT,))
PIPELINE_STEP = Step("pipeline stages", (PIPELINE_OVERLAP,))

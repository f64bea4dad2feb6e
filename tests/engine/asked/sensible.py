"""The limits of the simulation: what is not asked, why, and which rules are therefore proven only outside of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.engine.asked.models import Asked
from tuner.engines.sglang.resolver.request import Request

GPUS = ("cuda", "rocm", "npu", "xpu")
POOLED = ("EAGLE", "EAGLE3", "NEXTN", "DSPARK", "DFLASH")


@dataclass(frozen=True)
class NotAsked:
    """``rules``: ids that could hold where ``holds`` does, none = SGLang refuses there before any rule of ours is reached."""

    because: str
    rules: tuple[str, ...]
    holds: Callable[[Asked, Request], bool]


NOT_ASKED = (
    NotAsked("attention data parallelism needs ranks to share", (), lambda m, r: r.tensor_parallel % r.attn_dp != 0),
    NotAsked("prefill context parallelism needs ranks to share", (), lambda m, r: r.tensor_parallel % (r.attn_dp * r.attn_cp) != 0),
    NotAsked(
        "torch is asked for a compute capability, which a process without a GPU has only by our leave",
        ("dsa.kv-auto", "dsa.inner", "dsa.page"),
        lambda m, r: r.model.sparse and r.machine.kind not in GPUS,
    ),
    NotAsked(
        "models of DeepSeek's family spread prefill context parallelism over their experts too, and are refused for those",
        ("graph.breakable-cp", "kvless.cp"),
        lambda m, r: r.attn_cp > 1 and (r.model.mla or r.model.architecture == "DeepseekV4ForCausalLM"),
    ),
    NotAsked(
        "Qwen4-Exp reads for it a part of its configuration that a small model lacks",
        ("graph.breakable-cp", "graph.cp-captured"),
        lambda m, r: r.attn_cp > 1 and "Qwen4Exp" in r.model.architecture,
    ),
    NotAsked(
        "prefill context parallelism is refused off NVIDIA before attention is looked at",
        (),
        lambda m, r: r.attn_cp > 1 and r.machine.kind != "cuda",
    ),
    NotAsked(
        "host caches of a context split over ranks follow rules of their own",
        ("cache.host-radix",),
        lambda m, r: r.hierarchical_cache and r.dcp > 1 and not (r.model.sparse and r.version != "0.5.16"),
    ),
    NotAsked(
        "unified memory checks the drafts' pools, which are no question of backends",
        ("unified.mla", "unified.mha", "unified.trtllm-graph"),
        lambda m, r: r.unified_memory and r.version != "0.5.16" and r.draft.algorithm in POOLED and r.draft.topk in (None, 1),
    ),
    NotAsked(
        "unified memory in a disaggregated deployment depends on how keys are sent",
        ("unified.mla", "unified.mha"),
        lambda m, r: (
            r.unified_memory and r.version != "0.5.16" and r.role != "unified" and not r.kv_sharding and r.kv_cache_dtype == "auto"
        ),
    ),
    NotAsked(
        "Intern-S2-Mobius refuses pipeline stages for its experts",
        ("pipeline.overlap",),
        lambda m, r: r.pipeline_parallel > 1 and "Mobius" in r.model.architecture,
    ),
)
# Nor is asked what a Request cannot say: a chunk of --chunked-prefill-size that SGLang chooses, models whose configuration turns on
# dual chunks (0.5.16), FROZEN_KV_MTP drafts of Gemma 4, MiMo-V2 with a vision part, what a draft checkpoint's own rules would choose.


def sensible(model: Asked, request: Request) -> bool:
    return not any(one.holds(model, request) for one in NOT_ASKED)

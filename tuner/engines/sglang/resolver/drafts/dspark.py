"""DSPARK, which fills a block at once."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, PIPELINE, algorithm, no
from tuner.engines.sglang.resolver.drafts.dflash import CUDA_DEVICE
from tuner.engines.sglang.resolver.drafts.eagle import NO_DRAFT_MODEL
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
DSPARK = f"{HOOK}, _handle_dspark"

DSPARK_RULES = (
    Rule(
        "dspark.device-old",
        (no(CUDA_DEVICE),),
        Refuses("DSPARK drafts on CUDA devices only; drop --speculative-algorithm", "DSpark speculative decoding only supports CUDA"),
        "Its kernels were written for these.",
        DSPARK,
        until="0.5.16",
    ),
    Rule(
        "dspark.device-22",
        (no(Condition("CUDA, ROCm or NPU", lambda r, s: r.machine.kind in ("cuda", "rocm", "npu"))),),
        Refuses(
            "DSPARK drafts on CUDA devices and NPUs only; drop --speculative-algorithm", "DSpark speculative decoding only supports CUDA"
        ),
        "Its kernels are written for these.",
        DSPARK,
        since="0.5.22",
        until="0.5.22",
    ),
    Rule(
        "dspark.device",
        (no(Condition("CUDA, ROCm, NPU or XPU", lambda r, s: r.machine.kind in ("cuda", "rocm", "npu", "xpu"))),),
        Refuses(
            "DSPARK drafts on CUDA devices, NPUs and XPUs only; drop --speculative-algorithm",
            "DSpark speculative decoding only supports CUDA",
        ),
        "Its kernels are written for these.",
        DSPARK,
        since="0.5.23",
    ),
    Rule(
        "dspark.dp-head",
        (ATTN_DP,),
        Refuses(
            "DSPARK with attention data parallelism needs --enable-dp-lm-head; add it",
            "DSpark with dp attention requires --enable-dp-lm-head",
        ),
        "The draft borrows the target's head.",
        DSPARK,
    ),
    Rule(
        "dspark.pipeline",
        (PIPELINE, Condition("not a prefill server, or 0.5.16", lambda r, s: r.version == "0.5.16" or r.role != "prefill")),
        Refuses("DSPARK takes no pipeline parallelism here; drop --pp-size", "pp_size == 1"),
        "The draft reads the target's layers.",
        DSPARK,
    ),
    Rule(
        "dspark.model",
        (NO_DRAFT_MODEL,),
        Refuses(
            "DSPARK needs a draft checkpoint; name it with --speculative-draft-model-path",
            "DSpark dense speculative decoding requires setting",
        ),
        "The target's checkpoint brings none.",
        DSPARK,
    ),
    Rule(
        "dspark.tokens",
        (Condition("draft tokens unset", lambda r, s: s.draft_tokens is None),),
        sets(draft_tokens=8),
        "Seven tokens and one more where neither flag nor draft says.",
        DSPARK,
    ),
    Rule(
        "dspark.too-few",
        (Condition("one draft token", lambda r, s: (s.draft_tokens or 0) < 2),),
        Refuses("DSPARK needs at least 2 draft tokens, not {s.draft_tokens}; raise --speculative-num-draft-tokens", "must be >= 2"),
        "It drafts at least one and verifies one more.",
        DSPARK,
    ),
    Rule("dspark.chain", (), sets(steps=1, topk=1), "A block is one step of one branch, whatever was written.", DSPARK),
)

STEPS = (Step("DSPARK drafts", DSPARK_RULES, when=(algorithm("DSPARK"),)),)

"""What an FP4 cache, in either recipe, and MXFP8 cannot be combined with."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import CUDA, DISAGGREGATED, HOST_CACHED, SM100, SM120, either, kv_dtype, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Settings, Step, sets

KV4 = "sglang/srt/arg_groups/kv_cache_hook.py, handle_kv4_compatibility"
MXFP8 = "sglang/srt/arg_groups/kv_cache_hook.py, handle_mxfp8_kv_cache_compatibility"
NVFP4, FP4 = kv_dtype("nvfp4"), kv_dtype("nvfp4", "fp4_mx_block16")
NATIVE = Condition("NVFP4 on SM100 with trtllm_mha", lambda r, s: s.kv_dtype == "nvfp4" and r.machine.sm100 and "trtllm_mha" in s.sides)
MIXED = Condition("flashinfer prefills, trtllm_mha decodes", lambda r, s: s.sides == ("flashinfer", "trtllm_mha"))
SUPPORTED_DRAFTS = ("EAGLE", "EAGLE3", "NEXTN", "NGRAM")


def _algorithm(settings: Settings) -> str | None:
    return settings.algorithm.upper() if settings.algorithm else None


HAS_DRAFT_MODEL = Condition("a draft model", lambda r, s: _algorithm(s) not in (None, "NGRAM"))
FP4_REFUSED = Refuses("FP4 KV caches are for NVIDIA GPUs; choose another --kv-cache-dtype", "KV4 is not tested on non-CUDA")

FP4_RULES = (
    Rule(
        "fp4.platform-old",
        (Condition("--kv-cache-dtype written as FP4", lambda r, s: r.kv_cache_dtype in ("nvfp4", "fp4_mx_block16")), no(CUDA)),
        FP4_REFUSED,
        "Nobody tested them elsewhere; the flag is read as written.",
        KV4,
        until="0.5.16",
    ),
    Rule("fp4.platform", (FP4, no(CUDA)), FP4_REFUSED, "Nobody tested them elsewhere.", KV4, since="0.5.22"),
    Rule(
        "fp4.nvfp4-gpu",
        (NVFP4, no(either(SM100, SM120))),
        Refuses("nvfp4 needs SM100 or SM120; set --kv-cache-dtype fp4_mx_block16", "requires Blackwell SM100 or SM120"),
        "Its kernels are Blackwell's.",
        KV4,
    ),
    Rule(
        "fp4.unified",
        (FP4, Condition("unified memory", lambda r, s: r.unified_memory)),
        Refuses("FP4 KV caches do not go with --enable-unified-memory; drop one", "does not yet support --enable-unified-memory"),
        "The unified pool has no block scales.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.dense-drafts",
        (NATIVE, Condition("DFLASH or DSPARK", lambda r, s: _algorithm(s) in ("DFLASH", "DSPARK"))),
        Refuses("NVFP4 on SM100 does not go with {s.algorithm}; use EAGLE, NEXTN or NGRAM", "speculative decoding does not yet support"),
        "Their workers write only part of a block.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.other-drafts",
        (
            NATIVE,
            Condition("another algorithm than EAGLE, EAGLE3, NEXTN, NGRAM", lambda r, s: _algorithm(s) not in (None, *SUPPORTED_DRAFTS)),
        ),
        Refuses("NVFP4 on SM100 goes with EAGLE, EAGLE3, NEXTN and NGRAM only, not {s.algorithm}", "speculative decoding supports EAGLE"),
        "The others' writes of the cache were not checked.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.ngram-tree",
        (NATIVE, Condition("NGRAM as a tree", lambda r, s: _algorithm(s) == "NGRAM" and r.draft.ngram_breadth != 1)),
        Refuses(
            "NVFP4 on SM100 takes NGRAM as a chain only; set --speculative-ngram-max-bfs-breadth 1", "--speculative-ngram-max-bfs-breadth=1"
        ),
        "trtllm_mha verifies chains only.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.draft",
        (NATIVE, HAS_DRAFT_MODEL, Condition("draft backend unset", lambda r, s: s.draft is None)),
        sets(draft="trtllm_mha"),
        "The draft's pool has the same layout.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.draft-refused",
        (NATIVE, HAS_DRAFT_MODEL, Condition("another draft backend than trtllm_mha", lambda r, s: s.draft not in (None, "trtllm_mha"))),
        Refuses(
            "NVFP4 on SM100 drafts on trtllm_mha, not {s.draft}; drop --speculative-draft-attention-backend",
            "requires --speculative-draft-attention-backend=trtllm_mha",
        ),
        "The draft's pool has the same layout.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.verify",
        (
            NATIVE,
            MIXED,
            Condition("speculation that verifies on prefill", lambda r, s: s.algorithm is not None and s.verify_side == "prefill"),
        ),
        sets(verify_side="decode"),
        "FlashInfer's workspace cannot be refreshed inside a graph.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.role",
        (NATIVE, DISAGGREGATED),
        Refuses(
            "NVFP4 on SM100 does not go with disaggregation; choose another --kv-cache-dtype", "does not yet support PD disaggregation"
        ),
        "Its block scales are not sent along.",
        KV4,
        since="0.5.22",
    ),
    Rule(
        "fp4.host-cache",
        (NATIVE, HOST_CACHED),
        Refuses("NVFP4 on SM100 does not go with --enable-hierarchical-cache; drop one", "hierarchical KV cache or LMCache"),
        "Its block scales are not copied to the host.",
        KV4,
        since="0.5.22",
    ),
)

STEPS = (Step("FP4 KV cache", FP4_RULES),)

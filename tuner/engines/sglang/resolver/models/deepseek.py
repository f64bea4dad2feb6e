"""Models of DeepSeek's kind: MLA and its sparse form.

Source: sglang/srt/arg_groups/model_overrides/deepseek_v2.py.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import DEEPSEEK_16, DEEPSEEK_22
from tuner.engines.sglang.resolver.conditions import DCP, SM100, UNSET, XPU, architecture, kind, no
from tuner.engines.sglang.resolver.reasons import TRTLLM_MLA
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets

V2 = "sglang/srt/arg_groups/model_overrides/deepseek_v2.py, _deepseek_family_overrides"

FAMILY = Condition(
    "a model of DeepSeek's family",
    lambda r, s: r.model.architecture in (DEEPSEEK_16 if r.version == "0.5.16" else DEEPSEEK_22),
)

SPARSE = Condition("DeepSeek sparse attention", lambda r, s: r.model.sparse)
PLAIN_ROCM = Condition("ROCm without aiter's preshuffled kernels", lambda r, s: r.machine.kind == "rocm" and not r.machine.preshuffled_mqa)

SPLIT_RULES = (
    Rule(
        "hyv4.context-split",
        (architecture("HYV4ForCausalLM", "HYV4ForCausalLMNextN"), DCP),
        Refuses("HunYuan V4 takes no decode context parallelism; drop --dcp-size", "is not supported for HYV4"),
        "Its sinks have no single owner among the ranks.",
        V2,
        since="0.5.22",
    ),
    Rule(
        "dsa.context-split-host",
        (SPARSE, Condition("--dcp-size with a hierarchical cache", lambda r, s: r.dcp > 1 and r.hierarchical_cache)),
        Refuses(
            "sparse attention with --dcp-size {r.dcp} takes no hierarchical cache; drop --enable-hierarchical-cache",
            "DSA DCP does not support HiSparse or HiCache",
        ),
        "The host cache knows no split of the index.",
        "sglang/srt/arg_groups/model_overrides/deepseek_v2.py, _dsa_dcp_overrides",
        since="0.5.22",
    ),
    Rule(
        "dsa.context-split-role",
        (SPARSE, Condition("--dcp-size in a disaggregated deployment", lambda r, s: r.dcp > 1 and r.role != "unified")),
        Refuses(
            "sparse attention with --dcp-size {r.dcp} does not go with disaggregation; drop --dcp-size",
            "DSA DCP does not support PD disaggregation",
        ),
        "A split index is not sent along.",
        "sglang/srt/arg_groups/model_overrides/deepseek_v2.py, _dsa_dcp_overrides",
        since="0.5.22",
    ),
    Rule(
        "dsa.context-split",
        (SPARSE, Condition("--dcp-size with a draft tree", lambda r, s: r.dcp > 1 and s.topk not in (None, 1))),
        Refuses(
            "sparse attention with --dcp-size {r.dcp} takes no draft tree; set --speculative-eagle-topk 1",
            "DSA DCP requires --speculative-eagle-topk 1",
        ),
        "Its split has no tree masks.",
        "sglang/srt/arg_groups/model_overrides/deepseek_v2.py, _dsa_dcp_overrides",
        since="0.5.22",
    ),
    Rule(
        "dsa.context-split-inner",
        (SPARSE, DCP),
        Computes("inner backends trtllm", lambda r, s: {"dsa_prefill": s.dsa_prefill or "trtllm", "dsa_decode": s.dsa_decode or "trtllm"}),
        "Only these kernels gather a context split over ranks.",
        "sglang/srt/arg_groups/model_overrides/deepseek_v2.py, _dsa_dcp_overrides",
        since="0.5.22",
    ),
    Rule(
        "dsa.context-split-kpool",
        (
            SPARSE,
            Condition(
                "--dcp-size with pooled index keys",
                lambda r, s: r.dcp > 1 and r.model.index_kpool > 1 and r.machine.kind in ("cuda", "rocm"),
            ),
            no(PLAIN_ROCM),
        ),
        Refuses("pooled index keys take no decode context parallelism; drop --dcp-size", "is not supported for DSA with index_kpool"),
        "A pooled key spans tokens of several ranks.",
        V2,
        since="0.5.22",
    ),
)

RULES = (
    Rule("dsa.backend", (SPARSE, UNSET), sets(base="dsa"), "Sparse models have a backend of their own.", V2),
    Rule("dsa.page-rocm", (SPARSE, PLAIN_ROCM), sets(page_size=1), "The older ROCm kernel reads single tokens.", V2),
    Rule(
        "dsa.page",
        (SPARSE, kind("cuda", "rocm", "cpu", "mps", "musa", "hpu"), no(PLAIN_ROCM)),
        Computes("page size 64 x index-kpool", lambda r, s: {"page_size": 64 * r.model.index_kpool}),
        "A page holds whole groups of the index.",
        V2,
    ),
    Rule("dsa.page-xpu", (SPARSE, XPU), sets(page_size=128), "The XPU's sparse kernel takes pages of 128.", V2, since="0.5.22"),
    Rule(
        "mla.trtllm",
        (no(SPARSE), SM100, UNSET),
        sets(base="trtllm_mla"),
        "TensorRT-LLM's MLA kernels are preferred on SM100.",
        V2,
        reason=TRTLLM_MLA,
    ),
)

STEPS = (Step("DeepSeek models split over ranks", SPLIT_RULES, when=(FAMILY, DCP)), Step("DeepSeek models", RULES, when=(FAMILY,)))

"""Which of SGLang's rule sets applies, and what the engine fills in before its rules look at it."""

from __future__ import annotations

from backends.model import Model
from store.scenario import Speculation
from tuner.engines.sglang.resolver.versions import nearest

WIDE_DRAFTS = ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM")
NGRAM_TOPK = 10
MAX_RUNNING_WITH_DRAFTS = 48
KV_DTYPES = {"bf16": "bfloat16", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2"}  # the flag's words as torch names


def rules_for(version: str) -> tuple[str, str | None]:
    """The nearest rule set to ``version``, the newer at equal distance, and a note unless it is that version's own."""
    rules = nearest(version)
    return rules, None if rules == version else f"no rules of SGLang {version} are known; those of {rules}, the nearest, were applied"


def final_topk(model: Model, speculation: Speculation) -> int:
    """The draft width the server ends up with; 0 without speculation.

    Source: sglang/srt/arg_groups/speculative_hook.py, _auto_choose_speculative_params and _handle_ngram (0.5.16, 0.5.22).
    """
    if speculation.algorithm is None:
        return 0
    if speculation.algorithm == "NGRAM":
        return NGRAM_TOPK
    if speculation.topk is not None:
        return speculation.topk
    wide = speculation.algorithm != "STANDALONE" and model.architecture in WIDE_DRAFTS
    return 4 if wide else 1


def resolved_kv_dtype(model: Model, flag: str) -> str:
    """The KV pool's dtype, as a torch name where torch has one. "auto" is the checkpoint's declared dtype, else the model's.

    Source: sglang/srt/mem_cache/kv_cache_dtype.py, configure_kv_cache_dtype.
    """
    if flag == "auto":
        return model.declared_kv_dtype or model.dtype
    return KV_DTYPES.get(flag, flag)

"""Which FlashAttention vLLM launches behind its name, and the pages its kernels want.

Source: vllm/v1/attention/backends/fa_utils.py, get_flash_attn_version; vllm/v1/attention/backends/flash_attn.py (0.33.0). The kernels that
come with vLLM are taken to be there, ``attention_config.flash_attn_version`` to be unset.
"""

from __future__ import annotations

from backends.model import LayerKind
from backends.question import Question
from backends.vllm.models import fullest, sees_prefixes

HOPPER, DATA_CENTRE_BLACKWELL = 9, 10
FA3_WIDEST, FA4_WIDEST, DEQUANTIZED = 256, 128, 512  # head dims; FA4 on Blackwell has a kernel of its own for 256
FP8 = ("fp8", "fp8_e4m3")
LONG_PAGE, DEQUANTIZING_PAGE, PAGE = 128, 64, 16


def version(question: Question, layer: LayerKind) -> int | None:
    """2, 3 or 4 for a layer that is served; None where the compute capability is not known."""
    major, dims = _major(question), (layer.head_dim, layer.value_head_dim)
    if major == HOPPER and layer.head_dim <= FA3_WIDEST and not (layer.sinks and dims[0] != dims[1]):
        return 3
    if major not in (HOPPER, DATA_CENTRE_BLACKWELL) or _invariant(question):
        return None if major is None else 2
    if major == HOPPER:
        return 4
    if dims == (FA3_WIDEST, FA3_WIDEST):
        return 2 if _falls_back(question, layer) else 4
    return 4 if layer.head_dim <= FA4_WIDEST or dims == (192, 128) else 2


def page(question: Question) -> int | None:
    """Tokens of one page of its kernels, for the whole model; sinks and the page size that was set are not looked at."""
    major, layer = _major(question), fullest(question.model.layers)
    dims = (layer.head_dim, layer.value_head_dim)
    if major == HOPPER and layer.head_dim == DEQUANTIZED and question.kv_flag in FP8 and not _invariant(question):
        return DEQUANTIZING_PAGE
    narrow = _invariant(question) or _special(question)
    if major == DATA_CENTRE_BLACKWELL and dims == (FA3_WIDEST, FA3_WIDEST) and not narrow:
        return LONG_PAGE
    return None if major is None else PAGE


def quantized(kv_flag: str) -> bool:
    """Of vLLM's word for a KV dtype (vllm/v1/kv_cache_interface.py, is_quantized_kv_cache)."""
    return kv_flag not in ("auto", "float16", "bfloat16")


def _falls_back(question: Question, layer: LayerKind) -> bool:
    """_fa4_hd256_fallback_reason: what FA4's kernel for head dim 256 does not take."""
    odd_pages = question.set_page_size is not None and question.set_page_size % LONG_PAGE != 0
    return layer.sinks or odd_pages or _special(question)


def _special(question: Question) -> bool:
    capped = bool(question.model.logit_softcap)
    return capped or quantized(question.kv_flag) or sees_prefixes(question.model) or question.dcp_size > 1


def _invariant(question: Question) -> bool:
    return "deterministic" in question.features


def _major(question: Question) -> int | None:
    return None if question.gpu.sm is None else question.gpu.sm // 10

"""What stands in for vLLM's whole configuration while its selector is asked: the values that its backends read, and no weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def standing_in(fields: dict[str, Any]) -> Any:
    """``fields``: "text_config" (of the checkpoint), "head_size", "query_heads" and "kv_heads" (a rank's), "mm_prefix", "dtype",
    "kv_cache_dtype", "block_size" (None = unset), "tensor", "pcp", "dcp". Whatever else a backend reads is an AttributeError."""
    from vllm.config.attention import AttentionConfig
    from vllm.config.cache import CacheConfig

    text = SimpleNamespace(**fields["text_config"])
    block = fields["block_size"]
    return SimpleNamespace(
        attention_config=AttentionConfig(),
        cache_config=SimpleNamespace(
            cache_dtype=fields["kv_cache_dtype"],
            block_size=block or CacheConfig.DEFAULT_BLOCK_SIZE,
            user_specified_block_size=block is not None,
        ),
        model_config=SimpleNamespace(
            hf_config=text,
            hf_text_config=text,
            get_head_size=lambda: fields["head_size"],
            get_num_attention_heads=lambda parallel: fields["query_heads"],
            get_num_kv_heads=lambda parallel: fields["kv_heads"],
            is_mm_prefix_lm=fields["mm_prefix"],
            is_diffusion=False,
            rswa_window=None,
        ),
        parallel_config=SimpleNamespace(
            tensor_parallel_size=fields["tensor"],
            prefill_context_parallel_size=fields["pcp"],
            decode_context_parallel_size=fields["dcp"],
        ),
        speculative_config=None,
        kv_transfer_config=None,
    )

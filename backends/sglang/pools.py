"""The engine's pools over our tensors: nothing of the KV cache is allocated twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.driver import Refused

if TYPE_CHECKING:
    import torch

    from backends.driver import KvPool


def latent_pool(pool: KvPool, kv_dtype: torch.dtype, device: str) -> Any:
    """The engine's MLATokenToKVPool with ``pool``'s tensors as its buffers."""
    from sglang.srt.mem_cache.memory_pool import MLATokenToKVPool

    def adopt(self: Any) -> None:
        self.kv_buffer = [tensor.view(self.store_dtype) for tensor in pool.k]

    adopting = type("AdoptedLatentPool", (MLATokenToKVPool,), {"_create_buffers": adopt})
    rank = pool.v[0].shape[2]
    made = adopting(
        size=pool.pool_tokens,
        page_size=pool.page_size,
        dtype=kv_dtype,
        kv_lora_rank=rank,
        qk_rope_head_dim=pool.k[0].shape[2] - rank,
        layer_num=pool.slots,
        device=device,
        enable_memory_saver=False,
    )
    _check_adopted(made, pool)
    return made


def kv_pool(pool: KvPool, kv_dtype: torch.dtype, device: str) -> Any:
    """The engine's MHATokenToKVPool with ``pool``'s tensors as its buffers.

    Only the allocation is replaced, so sizes, pointers and strides are derived by the engine from these tensors
    (sglang/srt/mem_cache/memory_pool.py, MHATokenToKVPool._create_buffers, 0.5.16 and 0.5.22).
    """
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

    def adopt(self: Any) -> None:
        self.k_buffer = [tensor.view(self.store_dtype) for tensor in pool.k]
        self.v_buffer = [tensor.view(self.store_dtype) for tensor in pool.v]

    adopting = type("AdoptedKvPool", (MHATokenToKVPool,), {"_create_buffers_normal": adopt})
    made = adopting(
        size=pool.pool_tokens,
        page_size=pool.page_size,
        dtype=kv_dtype,
        head_num=pool.k[0].shape[1],
        head_dim=pool.k[0].shape[2],
        v_head_dim=pool.v[0].shape[2],
        layer_num=pool.slots,
        device=device,
        enable_memory_saver=False,
    )
    _check_adopted(made, pool)
    return made


def _check_adopted(made: Any, pool: KvPool) -> None:
    if getattr(made, "use_hnd", False):
        raise Refused("SGLANG_USE_HND_KVCACHE lays the pool out heads first, which is not measured; unset it")
    if made.get_key_buffer(0).data_ptr() != pool.k[0].data_ptr():
        raise Refused("this SGLang allocates its KV pool in a way this driver does not know; use a version it was read from")


def token_allocator(made: Any, kv_dtype: torch.dtype, device: str) -> Any:
    """The allocator a server with this page size would have; backends ask it for its pool, nothing is allocated from it."""
    if made.page_size == 1:
        from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator

        return TokenToKVPoolAllocator(made.size, kv_dtype, device, made, need_sort=False)
    from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator

    return PagedTokenToKVPoolAllocator(made.size, made.page_size, kv_dtype, device, made, need_sort=False)


def request_pool(requests: int, context_length: int, device: str) -> Any:
    """The engine's table of token slots, int32 [requests + 1, context_length]; row 0 belongs to padded requests."""
    from sglang.srt.mem_cache.memory_pool import ReqToTokenPool

    return ReqToTokenPool(size=requests, max_context_len=context_length, device=device, enable_memory_saver=False)

"""New keys and values into their rows of the pool: one launch for both, as the engine's own copy kernel is one.

Source: sglang/jit_kernel/kvcache.py, store_cache (0.5.16), which is built with the engine; two indexed copies would take longer than it.
"""

from __future__ import annotations

from ctypes import c_uint, c_ulonglong
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.cuda_code import Kernel, load

if TYPE_CHECKING:
    import torch

CODE = Path(__file__).with_name("copy_rows.ptx")
WORD_BYTES, MOST_THREADS, WARP = 16, 256, 32

Layer = tuple["torch.Tensor", "torch.Tensor"]  # (new rows [tokens, heads, dim], a layer's K or V of the pool [rows, heads, dim])


def write_rows(layers: tuple[Layer, ...], places: torch.Tensor) -> None:
    """Row ``i`` of each layer's new ones to row ``places[i]`` (int64) of its pool, in the pool's dtype, on the current stream. One or two
    layers."""
    if not all(_whole_words(new, pool) for new, pool in layers):
        for new, pool in layers:
            pool[places] = new.to(pool.dtype)
        return
    lengths = [_row_bytes(new) for new, _ in layers]
    threads = min(MOST_THREADS, -(-max(lengths) // (WORD_BYTES * WARP)) * WARP)
    parts = [argument for layer in (layers[0], layers[-1]) for argument in _arguments(*layer)]
    _kernel().launch(len(places) * len(layers), threads, _stream(), c_ulonglong(places.data_ptr()), c_uint(len(layers)), *parts)


def _whole_words(new: torch.Tensor, pool: torch.Tensor) -> bool:
    """Whether rows lie in one run and in whole words, on a GPU."""
    sizes = (_row_bytes(new), _stride_bytes(new), _stride_bytes(pool), new.data_ptr(), pool.data_ptr())
    runs = all(tensor.stride()[1:] == (tensor.shape[2], 1) or tensor.shape[1] == 1 for tensor in (new, pool))
    return _on_gpu(new) and new.dtype == pool.dtype and runs and not any(size % WORD_BYTES for size in sizes)


def _on_gpu(rows: torch.Tensor) -> bool:
    return rows.is_cuda


def _arguments(new: torch.Tensor, pool: torch.Tensor) -> tuple[Any, ...]:
    numbers = (new.data_ptr(), pool.data_ptr(), _stride_bytes(new), _stride_bytes(pool), _row_bytes(new))
    return tuple(map(c_ulonglong, numbers))


def _row_bytes(rows: torch.Tensor) -> int:
    return rows.shape[1] * rows.shape[2] * rows.element_size()


def _stride_bytes(rows: torch.Tensor) -> int:
    return rows.stride(0) * rows.element_size()


@cache
def _kernel() -> Kernel:
    (kernel,) = load(CODE.read_bytes(), ["attnpin_copy_rows"])
    return kernel


def _stream() -> int:
    import torch

    cuda: Any = torch.cuda
    return int(cuda.current_stream().cuda_stream)

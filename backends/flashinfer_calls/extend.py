"""One prefill step through FlashInfer: ragged over the new tokens, paged over the prefix, and a merge where both exist."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from backends.driver import Refused
from backends.flashinfer_calls.tables import starts, token_slots
from backends.paged.write import write_rows

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.flashinfer_paged import Library

INDEX_SLACK = 256
MERGE_THREADS = 1024  # of one block; FlashInfer's merge kernel gives every head of a token its lane group in one


class ExtendCall:
    """See `backends.driver.PreparedCall`. K and V are written after attention, as the engine does."""

    graph = False  # the engine's prefill graph breaks at attention

    def __init__(self, library: Library, data: CellData) -> None:
        self._library = library
        self._data = data
        self._has_prefix = any(data.cell.prefix_lens)
        if self._has_prefix:
            _require_mergeable(data)
        module, workspace = library.module, library.workspace
        self._ragged: Any = module.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD", backend=_ragged_backend())
        self._paged: Any = module.BatchPrefillWithPagedKVCacheWrapper(workspace, "NHD", backend="fa2")

    @property
    def resolved(self) -> str:
        ragged = f"ragged {self._ragged._backend}"
        return f"{ragged} + paged {self._paged._backend}" if self._has_prefix else ragged

    def plan(self) -> None:
        """Both plans, also where no request has a prefix."""
        import torch

        data, layer = self._data, self._data.cell.layer
        heads = (layer.query_heads, layer.kv_heads, layer.head_dim)
        queries, prefixes = starts(data.new_lens), starts(data.prefix_lens)
        rows = torch.arange(1, data.cell.batch + 1, device=data.q.device)
        total = sum(data.cell.prefix_lens)
        indices = torch.empty(total + INDEX_SLACK, dtype=torch.int32, device=data.q.device)
        indices[:total] = token_slots(data.req_to_token, rows, data.prefix_lens, total)
        last_page_len = torch.ones(data.cell.batch, dtype=torch.int32, device=data.q.device)
        self._ragged.begin_forward(queries, queries, *heads, q_data_type=self._library.dtype)
        self._paged.begin_forward(
            queries,
            prefixes,
            indices,
            last_page_len,
            *heads,
            1,
            q_data_type=self._library.dtype,
            kv_data_type=self._library.kv_dtype,
            non_blocking=True,
        )

    def launch(self, slot: int) -> torch.Tensor:
        """Output [new tokens, query_heads, head_dim]."""
        data = self._data
        k_cache, v_cache = data.pool.k[slot], data.pool.v[slot]
        output = self._attend(k_cache, v_cache)
        write_rows(((data.k_new, k_cache), (data.v_new, v_cache)), data.out_cache_loc)
        return output

    def _attend(self, k_cache: torch.Tensor, v_cache: torch.Tensor) -> torch.Tensor:
        data, scale = self._data, self._data.cell.layer.softmax_scale
        output: torch.Tensor
        if not self._has_prefix:
            output = self._ragged.forward(data.q, data.k_new, data.v_new, causal=True, sm_scale=scale, logits_soft_cap=0.0)
            return output
        new = self._ragged.forward_return_lse(data.q, data.k_new, data.v_new, causal=True, sm_scale=scale, logits_soft_cap=0.0)
        old = self._paged.forward_return_lse(data.q, (k_cache, v_cache), causal=False, sm_scale=scale, logits_soft_cap=0.0)
        output, _ = self._library.module.merge_state(*new, *old)
        return output

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self._ragged = self._paged = None


def _ragged_backend() -> str:
    """FlashInfer chooses (fa3 on Hopper where the head dims allow), except on data-centre Blackwell."""
    import torch

    return "cutlass" if torch.cuda.get_device_capability()[0] == 10 else "auto"


def _require_mergeable(data: CellData) -> None:
    """Raise `Refused` where a merge of so many heads would not launch; the engine then takes a Triton kernel of its own."""
    layer = data.cell.layer
    lanes = layer.head_dim // max(16 // data.q.element_size(), layer.head_dim // 32)
    if layer.query_heads * lanes > MERGE_THREADS:
        raise Refused(f"FlashInfer cannot merge {layer.query_heads} heads of dim {layer.head_dim} a token; use the engine")

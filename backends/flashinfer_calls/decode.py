"""One decode step through FlashInfer: planned on the host every step, recorded with a wrapper per batch size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from backends.flashinfer_calls.tables import starts, token_slots
from backends.padded_batch import CAPTURE_LENGTH, PaddedBatch, live_batch, padded_batch
from backends.paged.write import write_rows

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.flashinfer_paged import Library


class DecodeCall:
    """See `backends.driver.PreparedCall`. Eager on the true rows until the first `capturing`, padded from then on."""

    def __init__(self, library: Library, data: CellData) -> None:
        self._library = library
        self._data = data
        self.graph = library.graph_max_batch is None or data.cell.padded_batch <= library.graph_max_batch
        self._tensor_cores = library.tensor_cores(data.cell.layer)
        self._batch: PaddedBatch = live_batch(data)
        self._last_page_len = _ones(self._batch)
        self._wrapper: Any = self._make_wrapper()
        self._table: torch.Tensor | None = None

    @property
    def resolved(self) -> str:
        return f"{self._wrapper._backend}{',tensor cores' if self._tensor_cores else ''}"

    def plan(self) -> None:
        self._batch.refresh(self._data)
        self._plan(self._batch.lengths, self._batch.host_lengths)

    def launch(self, slot: int) -> torch.Tensor:
        """Output [batch, query_heads, head_dim], padded once captured. K and V are written first."""
        pool, batch = self._data.pool, self._batch
        write_rows(((batch.k, pool.k[slot]), (batch.v, pool.v[slot])), batch.out_cache_loc)
        scale = self._data.cell.layer.softmax_scale
        output: torch.Tensor = self._wrapper.forward(batch.q, (pool.k[slot], pool.v[slot]), sm_scale=scale, logits_soft_cap=0.0)
        return output

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """First a plain plan of one-token requests, from then on FlashInfer's fast one, as the engine's runner has it."""
        import torch

        if self._table is None:
            self._batch = padded_batch(self._data)
            self._last_page_len = _ones(self._batch)
            self._table = torch.zeros(self._batch.size * self._library.context_length, dtype=torch.int32, device=self._data.q.device)
            self._wrapper = self._make_graph_wrapper(self._batch.size, self._table)
            self._plan_for_capture()
            fast = getattr(self._library.module.decode, "fast_decode_plan", None)
            if fast is not None:
                self._wrapper.begin_forward = partial(fast, self._wrapper)
        else:
            self._plan_for_capture()
        yield

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self._wrapper = self._table = None

    def _plan_for_capture(self) -> None:
        import torch

        size = self._batch.size
        self._plan(torch.full_like(self._batch.lengths, CAPTURE_LENGTH), torch.full((size,), CAPTURE_LENGTH))

    def _plan(self, lengths: torch.Tensor, host_lengths: torch.Tensor) -> None:
        layer, batch = self._data.cell.layer, self._batch
        total = int(host_lengths.sum())
        indptr = starts(lengths)
        indices = token_slots(self._data.req_to_token, batch.rows, lengths, total)
        fast: dict[str, Any] = {}
        if self._table is not None:
            self._table[:total] = indices
            indices = self._table
            self._wrapper._paged_kv_indptr_buf.copy_(indptr)
            if isinstance(self._wrapper.begin_forward, partial):
                fast["global_override_indptr_cpu"] = starts(host_lengths)
        self._wrapper.begin_forward(
            indptr,
            indices,
            self._last_page_len,
            layer.query_heads,
            layer.kv_heads,
            layer.head_dim,
            1,
            data_type=self._library.kv_dtype,
            q_data_type=self._library.dtype,
            non_blocking=True,
            **fast,
        )

    def _make_wrapper(self) -> Any:
        make = self._library.module.BatchDecodeWithPagedKVCacheWrapper
        return make(self._library.workspace, "NHD", use_tensor_cores=self._tensor_cores, backend=self._library.decode_backend)

    def _make_graph_wrapper(self, size: int, table: torch.Tensor) -> Any:
        import torch

        return self._library.module.BatchDecodeWithPagedKVCacheWrapper(
            self._library.workspace,
            "NHD",
            use_cuda_graph=True,
            use_tensor_cores=self._tensor_cores,
            paged_kv_indptr_buffer=torch.zeros(size + 1, dtype=torch.int32, device=table.device),
            paged_kv_indices_buffer=table,
            paged_kv_last_page_len_buffer=self._last_page_len,
            backend=self._library.decode_backend,
        )


def _ones(batch: PaddedBatch) -> torch.Tensor:
    """int32 [size]: tokens in each request's last page, of one token each."""
    import torch

    return torch.ones(batch.size, dtype=torch.int32, device=batch.q.device)

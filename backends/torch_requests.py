"""The loop over requests that SGLang's two PyTorch backends share: gather a request's keys, attend, next request.

Source: sglang/srt/layers/attention/torch_native_backend.py and torch_flex_backend.py, 0.5.16 to 0.5.22. Lengths stay tensors,
as there: on a GPU every slice by one waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from backends.cell import Phase

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData

# (request, q [1, query_heads, rows, head_dim], k and v [1, kv_heads, context, ..]) -> [1, query_heads, rows, value_head_dim]
Attend = Callable[[int, "torch.Tensor", "torch.Tensor", "torch.Tensor"], "torch.Tensor"]


class RequestLoop:
    """See `backends.driver.PreparedCall`. ``plan`` makes the step's metadata, ``resolved`` names the inner path."""

    graph = False  # the engine runs both with CUDA graphs off

    def __init__(self, data: CellData, attend: Attend, plan: Callable[[], None], resolved: Callable[[], str]) -> None:
        self._data = data
        self._attend = attend
        self._plan = plan
        self._resolved = resolved

    @property
    def resolved(self) -> str:
        return self._resolved()

    def plan(self) -> None:
        self._plan()

    def launch(self, slot: int) -> torch.Tensor:
        """Output [new tokens, query_heads, value_head_dim]; nothing is padded."""
        data = self._data
        k_cache, v_cache = data.pool.k[slot], data.pool.v[slot]
        k_cache[data.out_cache_loc] = data.k_new.to(k_cache.dtype)
        v_cache[data.out_cache_loc] = data.v_new.to(v_cache.dtype)
        output = data.q.new_empty((*data.q.shape[:2], v_cache.shape[2]))
        if data.cell.phase is Phase.DECODE:
            self._decode(k_cache, v_cache, output)
        else:
            self._extend(k_cache, v_cache, output)
        return output

    def _decode(self, k_cache: torch.Tensor, v_cache: torch.Tensor, output: torch.Tensor) -> None:
        queries = self._data.q.movedim(0, 1)
        for request in range(self._data.cell.batch):
            k, v = self._gather(request, k_cache, v_cache)
            rows = slice(request, request + 1)
            output[rows] = self._attend(request, queries[None, :, rows], k, v).squeeze(0).movedim(1, 0)

    def _extend(self, k_cache: torch.Tensor, v_cache: torch.Tensor, output: torch.Tensor) -> None:
        """A request's queries are padded in front to its whole context, and the padded outputs thrown away."""
        queries = self._data.q.movedim(0, 1)
        first: torch.Tensor | int = 0
        for request in range(self._data.cell.batch):
            after = first + self._data.new_lens[request]
            prefix = self._data.prefix_lens[request]
            k, v = self._gather(request, k_cache, v_cache)
            padded = queries.new_empty((queries.shape[0], k.shape[2], queries.shape[2]))
            padded[:, prefix:] = queries[:, first:after]
            output[first:after] = self._attend(request, padded[None], k, v).squeeze(0).movedim(1, 0)[prefix:]
            first = after

    def _gather(self, request: int, k_cache: torch.Tensor, v_cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V of a request's context, [1, kv_heads, context, ..], in the model's dtype."""
        tokens = self._data.req_to_token[request + 1, : self._data.seq_lens[request]]
        k, v = k_cache[tokens].movedim(0, 1), v_cache[tokens].movedim(0, 1)
        return k[None].to(self._data.q.dtype), v[None].to(self._data.q.dtype)

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is held."""

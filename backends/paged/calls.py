"""One cell through a kernel that reads a page table: planned once a step, K and V written before attention, decode recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from backends.cell import Phase
from backends.driver import Refused
from backends.padded_batch import CAPTURE_LENGTH, PaddedBatch, live_batch, padded_batch
from backends.paged.step import Step, decode_step, extend_step
from backends.paged.write import write_rows

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData

UNREGISTERED = "_OpNamespace"  # in what torch says of an operator that the library was to bring


class Kernel(Protocol):
    """One library's calls on one cell. ``resolved`` names the inner path, after the first call."""

    @property
    def resolved(self) -> str: ...

    def plan(self, step: Step) -> None:
        """The library's own metadata of the step. Of a recorded one, what the kernel reads keeps its address from plan to plan."""

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """``q`` [tokens, query_heads, head_dim] over a layer's pool, ``k`` and ``v`` [rows, kv_heads, dim]; the output
        [tokens, query_heads, value_head_dim]."""


@dataclass(frozen=True)
class Server:
    """What of the server its calls hang on. ``graph_max_batch`` bounds which batches are recorded (None = all). ``wide``: tables have room
    for a whole context, as those of a recorded batch do and of an eager one with some backends; False = for the longest request of the
    batch. None = as the engine has it, which ``wide_eagerly`` says of eager batches."""

    context_length: int
    graph_max_batch: int | None = None
    wide: bool | None = None
    wide_eagerly: bool = False

    def table_tokens(self, longest: int, recorded: bool) -> int:
        wide = self.wide if self.wide is not None else recorded or self.wide_eagerly
        return self.context_length if wide else longest


def prepared(server: Server, data: CellData, kernel: Kernel) -> PagedDecode | PagedExtend:
    """Raises `Refused` for a step that judges drafted tokens: its calls are the engine's alone."""
    if data.cell.verifies:
        raise Refused("a verify step is driven through the engine's own backend alone")
    return PagedDecode(server, data, kernel) if data.cell.phase is Phase.DECODE else PagedExtend(data, kernel)


class PagedDecode:
    """See `backends.driver.PreparedCall`. Eager on the true rows until the first `capturing`, padded from then on."""

    def __init__(self, server: Server, data: CellData, kernel: Kernel) -> None:
        self._server = server
        self._data = data
        self._kernel = kernel
        self.graph = server.graph_max_batch is None or data.cell.padded_batch <= server.graph_max_batch
        self._take(live_batch(data), recorded=False)

    @property
    def resolved(self) -> str:
        return self._kernel.resolved

    def plan(self) -> None:
        self._batch.refresh(self._data)
        self._step.fill(self._batch.lengths, self._batch.host_lengths)
        _plan(self._kernel, self._step)

    def launch(self, slot: int) -> torch.Tensor:
        """Output [batch, query_heads, value_head_dim], padded once captured."""
        return _attended(self._kernel, self._step, self._batch.q, (self._batch.k, self._batch.v), self._batch.out_cache_loc, slot)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Planned for requests of one token, as the engine's runner records."""
        import torch

        if not self._step.recorded:
            self._take(padded_batch(self._data), recorded=True)
        size = self._batch.size
        self._step.fill(torch.full_like(self._batch.lengths, CAPTURE_LENGTH), torch.full((size,), CAPTURE_LENGTH))
        _plan(self._kernel, self._step)
        yield

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """What the kernel holds goes with the call."""

    def _take(self, batch: PaddedBatch, recorded: bool) -> None:
        """From an eager batch the host reads the longest length; beside a recorded one it takes the context length for it
        (sglang/srt/layers/attention/flashattention_backend.py, _apply_cuda_graph_metadata, needs_cpu_seq_lens)."""
        longest = max(self._data.cell.context_lens)
        tokens = self._server.table_tokens(longest, recorded)
        self._batch = batch
        self._step: Step = decode_step(self._data, batch, tokens if recorded else longest, tokens, recorded)


class PagedExtend:
    """See `backends.driver.PreparedCall`: a prefill, which the engine launches eagerly."""

    graph = False

    def __init__(self, data: CellData, kernel: Kernel) -> None:
        self._data = data
        self._kernel = kernel
        self._step = extend_step(data)

    @property
    def resolved(self) -> str:
        return self._kernel.resolved

    def plan(self) -> None:
        self._step = extend_step(self._data)
        _plan(self._kernel, self._step)

    def launch(self, slot: int) -> torch.Tensor:
        """Output [new tokens, query_heads, value_head_dim]."""
        data = self._data
        return _attended(self._kernel, self._step, data.q, (data.k_new, data.v_new), data.out_cache_loc, slot)

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """What the kernel holds goes with the call."""


def _attended(
    kernel: Kernel, step: Step, q: torch.Tensor, new: tuple[torch.Tensor, torch.Tensor], places: torch.Tensor, slot: int
) -> torch.Tensor:
    pool = step.data.pool
    k, v = pool.k[slot], pool.v[slot]
    latent = step.data.cell.layer.latent  # then V is the head of K
    write_rows(((new[0], k),) if latent else ((new[0], k), (new[1], v)), places)
    try:
        return kernel.attend(step, q, k, v)
    except (TypeError, AttributeError) as error:
        _refuse_unknown(kernel, error)
        raise


def _plan(kernel: Kernel, step: Step) -> None:
    try:
        kernel.plan(step)
    except (TypeError, AttributeError) as error:
        _refuse_unknown(kernel, error)
        raise


def _refuse_unknown(kernel: Kernel, error: TypeError | AttributeError) -> None:
    """Raises `Refused` for a parameter or a name that is not the library's, unless it did not load whole."""
    if UNREGISTERED not in str(error):
        said = f"{kernel.resolved} is called in another way by this release of its library ({error}); use the engine's own driver"
        raise Refused(said) from error

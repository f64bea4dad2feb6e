"""What a kernel reads of one step: lengths, and which pages each request holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.flashinfer_calls.tables import starts

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.padded_batch import PaddedBatch


@dataclass
class Step:
    """``seq_lens`` int64 [batch]: keys incl. the new ones; ``lengths`` the same as int32, ``host_lengths`` on the host. ``starts`` int32
    [batch + 1]: running sums of new tokens, of which the longest request has ``longest_new``. ``table`` int32 [batch, pages], entries past
    a request's length are stale. ``longest``: no length is above it, as far as the engine knows on the host. ``rows`` int64 [batch] of
    `CellData.req_to_token`. ``metadata``: what the library made of it, of `keep`. Tensors keep their addresses, which a ``recorded`` step's
    kernels go on reading."""

    data: CellData
    rows: torch.Tensor
    seq_lens: torch.Tensor
    lengths: torch.Tensor
    host_lengths: torch.Tensor
    starts: torch.Tensor
    table: torch.Tensor
    longest_new: int
    longest: int
    recorded: bool
    metadata: tuple[torch.Tensor, ...] = ()

    @property
    def batch(self) -> int:
        return len(self.lengths)

    def fill(self, lengths: torch.Tensor, host_lengths: torch.Tensor) -> None:
        """New lengths (int64), and the pages that they cover."""
        self.seq_lens.copy_(lengths)
        self.lengths.copy_(lengths)
        self.host_lengths = host_lengths
        size = self.data.pool.page_size
        pages = -(-int(host_lengths.max()) // size)
        self.table[:, :pages] = self.data.req_to_token[self.rows, : pages * size : size] // size

    def keep(self, *made: torch.Tensor) -> None:
        """The library's metadata of these lengths, of a ``recorded`` step where its first was. Raises RuntimeError for another size."""
        if not self.recorded or not self.metadata:
            self.metadata = made
            return
        for kept, new in zip(self.metadata, made, strict=True):
            kept.copy_(new)


def decode_step(data: CellData, batch: PaddedBatch, longest: int, table_tokens: int, recorded: bool) -> Step:
    """One new token a request; the table has room for ``table_tokens`` of each."""
    import torch

    first = torch.arange(batch.size + 1, dtype=torch.int32, device=data.q.device)
    return _made(data, batch.rows, (batch.lengths, batch.host_lengths), first, 1, longest, table_tokens, recorded)


def extend_step(data: CellData) -> Step:
    """Every request's new tokens over its prefix; the table is as wide as the longest context."""
    import torch

    rows = torch.arange(1, data.cell.batch + 1, device=data.q.device)
    longest = max(data.cell.context_lens)
    lengths = (data.seq_lens, torch.tensor(data.cell.context_lens))
    return _made(data, rows, lengths, starts(data.new_lens), max(data.cell.new_lens), longest, longest, recorded=False)


def _made(
    data: CellData,
    rows: torch.Tensor,
    lengths: tuple[torch.Tensor, torch.Tensor],
    first: torch.Tensor,
    longest_new: int,
    longest: int,
    table_tokens: int,
    recorded: bool,
) -> Step:
    import torch

    pages = -(-table_tokens // data.pool.page_size)
    table = torch.zeros((len(rows), pages), dtype=torch.int32, device=data.q.device)
    seq_lens = torch.zeros_like(lengths[0])
    step = Step(data, rows, seq_lens, seq_lens.to(torch.int32), lengths[1], first, table, longest_new, longest, recorded)
    step.fill(*lengths)
    return step

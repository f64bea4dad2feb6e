"""Cells as the ForwardBatch the engine's scheduler would build for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData


@dataclass
class DecodeRows:
    """One decode or verify batch: int64 on the device, ``seq_lens_cpu`` int64 on the host. ``input_ids``, ``out_cache_loc`` and
    ``positions`` hold ``width`` entries a request, the others one. Of a verify batch the lengths leave its new tokens out.

    Named as the decode runner's input buffers are, since its view builder reads them by name
    (sglang/srt/model_executor/runner_utils/buffers.py, DecodeInputBuffers).
    """

    input_ids: torch.Tensor
    req_pool_indices: torch.Tensor
    seq_lens: torch.Tensor
    seq_lens_cpu: torch.Tensor
    out_cache_loc: torch.Tensor
    positions: torch.Tensor
    mamba_track_indices: None = None

    @property
    def batch(self) -> int:
        return len(self.seq_lens)

    @property
    def tokens(self) -> int:
        return len(self.positions)

    @property
    def width(self) -> int:
        return self.tokens // self.batch

    def fill(self, fill: int, start: int = 0) -> None:
        """Make the requests from ``start`` on padded ones: table row 0, length ``fill``, KV written to slot 0
        (the padding policies of sglang/srt/model_executor/cuda_graph_buffer_registry.py, build_decode_registry)."""
        self.req_pool_indices[start:].zero_()
        for tensor in (self.out_cache_loc, self.positions):
            tensor[start * self.width :].zero_()
        self.seq_lens[start:].fill_(fill)
        self.seq_lens_cpu[start:].fill_(fill)

    def load(self, rows: DecodeRows, fill: int) -> None:
        """Copy ``rows`` to the head and pad the tail, as the decode runner does before every replay."""
        import torch

        live = rows.batch
        if live < self.batch:
            self.fill(fill, live)
        theirs = rows._on_device()
        torch._foreach_copy_([tensor[: len(other)] for tensor, other in zip(self._on_device(), theirs)], theirs)
        self.seq_lens_cpu[:live].copy_(rows.seq_lens_cpu)

    def _on_device(self) -> list[torch.Tensor]:
        return [self.input_ids, self.req_pool_indices, self.seq_lens, self.out_cache_loc, self.positions]


def true_rows(data: CellData) -> DecodeRows:
    """The rows of a decode cell with its true lengths, the decoded token included."""
    import torch

    device = data.seq_lens.device
    return DecodeRows(
        input_ids=torch.zeros(data.cell.batch, dtype=torch.int64, device=device),
        req_pool_indices=request_rows(data),
        seq_lens=data.seq_lens,
        seq_lens_cpu=torch.tensor(data.cell.context_lens, dtype=torch.int64),
        out_cache_loc=data.out_cache_loc,
        positions=data.seq_lens - 1,
    )


def padded_rows(batch: int, fill: int, device: torch.device, width: int = 1) -> DecodeRows:
    """Static rows of a captured batch size, all of them padding until loaded."""
    import torch

    sizes = (batch * width, batch, batch, batch * width, batch * width)
    ids, requests, lengths, slots, positions = [torch.zeros(size, dtype=torch.int64, device=device) for size in sizes]
    rows = DecodeRows(ids, requests, lengths, torch.zeros(batch, dtype=torch.int64), slots, positions)
    rows.fill(fill)
    return rows


def request_rows(data: CellData) -> torch.Tensor:
    """Row of each request in the engine's table: request i has row i + 1."""
    import torch

    return torch.arange(1, data.cell.batch + 1, dtype=torch.int64, device=data.seq_lens.device)


def decode_batch(rows: DecodeRows) -> Any:
    return step_batch(rows, "DECODE")


def step_batch(rows: DecodeRows, mode: str, spec_info: Any = None) -> Any:
    """Of a step that is recorded; ``mode`` is a name of the engine's `ForwardMode`, ``spec_info`` what it is told of a draft."""
    from sglang.srt.model_executor.forward_batch_info import ForwardBatch, ForwardMode

    return ForwardBatch(
        forward_mode=ForwardMode[mode],
        batch_size=rows.batch,
        input_ids=rows.input_ids,
        req_pool_indices=rows.req_pool_indices,
        seq_lens=rows.seq_lens,
        out_cache_loc=rows.out_cache_loc,
        seq_lens_sum=int(rows.seq_lens_cpu.sum()),
        seq_lens_cpu=rows.seq_lens_cpu,
        positions=rows.positions,
        spec_info=spec_info,
    )


def extend_batch(data: CellData) -> Any:
    """A prefill of every request's new tokens over its cached prefix (which may be empty); in a mixed one some requests decode."""
    import torch
    from sglang.srt.model_executor.forward_batch_info import ForwardBatch, ForwardMode

    cell, device = data.cell, data.seq_lens.device
    positions = torch.cat([torch.arange(prefix, context) for prefix, context in zip(cell.prefix_lens, cell.context_lens)])
    starts = torch.cumsum(data.new_lens, 0) - data.new_lens
    return ForwardBatch(
        forward_mode=ForwardMode.MIXED if cell.mixed else ForwardMode.EXTEND,
        batch_size=cell.batch,
        input_ids=torch.zeros(cell.new_tokens, dtype=torch.int64, device=device),
        req_pool_indices=request_rows(data),
        seq_lens=data.seq_lens,
        out_cache_loc=data.out_cache_loc,
        seq_lens_sum=sum(cell.context_lens),
        seq_lens_cpu=torch.tensor(cell.context_lens, dtype=torch.int64),
        positions=positions.to(device),
        extend_num_tokens=cell.new_tokens,
        extend_seq_lens=data.new_lens.to(torch.int32),
        extend_prefix_lens=data.prefix_lens.to(torch.int32),
        extend_start_loc=starts.to(torch.int32),
        extend_seq_lens_cpu=list(cell.new_lens),
        extend_prefix_lens_cpu=list(cell.prefix_lens),
    )

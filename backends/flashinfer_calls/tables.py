"""The index tables FlashInfer plans with: where each request's tokens lie, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def starts(lengths: torch.Tensor) -> torch.Tensor:
    """int32 [requests + 1]: running sums of ``lengths`` (int64 [requests]), 0 first."""
    import torch

    sums = torch.zeros(len(lengths) + 1, dtype=torch.int32, device=lengths.device)
    sums[1:] = torch.cumsum(lengths, dim=0)
    return sums


def token_slots(table: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor, total: int) -> torch.Tensor:
    """int32 [total]: the first ``lengths[i]`` pool slots of row ``rows[i]`` of ``table``, request after request.

    ``total`` is their sum, known on the host, so nothing waits for the device.
    """
    import torch

    first = torch.cumsum(lengths, dim=0) - lengths
    row = torch.repeat_interleave(rows, lengths, output_size=total)
    within = torch.arange(total, device=table.device) - torch.repeat_interleave(first, lengths, output_size=total)
    return table[row, within]

"""The rows that one decode step launches on: the true ones, or a captured batch whose rest is padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData

CAPTURE_LENGTH = 1  # a recorded batch is planned for requests of one token (get_cuda_graph_seq_len_fill_value)


class PaddedBatch:
    """``rows`` of the page table, 0 for padding; ``lengths`` int64 [size] and the same on the host. Addresses stay."""

    def __init__(self, data: CellData, size: int) -> None:
        import torch

        live, device = data.cell.batch, data.q.device
        extra = size - live
        self.size = size
        self.rows = torch.tensor([*range(1, live + 1), *[0] * extra], device=device)
        self.host_lengths = torch.tensor([*data.cell.context_lens, *[CAPTURE_LENGTH] * extra])
        self.lengths = self.host_lengths.to(device)
        self.q, self.k, self.v, self.out_cache_loc = (
            tensor if extra == 0 else tensor.new_zeros((size, *tensor.shape[1:])) for tensor in _inputs(data)
        )

    def refresh(self, data: CellData) -> None:
        """Copy the live rows in, as the engine does before every replay of a padded batch."""
        for mine, live in zip((self.q, self.k, self.v, self.out_cache_loc), _inputs(data)):
            if mine is not live:
                mine[: len(live)].copy_(live)


def _inputs(data: CellData) -> tuple[torch.Tensor, ...]:
    return data.q, data.k_new, data.v_new, data.out_cache_loc


def live_batch(data: CellData) -> PaddedBatch:
    return PaddedBatch(data, data.cell.batch)


def padded_batch(data: CellData) -> PaddedBatch:
    return PaddedBatch(data, data.cell.padded_batch)

"""An arm ready to be timed on a cell, whatever its clock: what a visit and a check need of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from backends.timing.capture import ReplayedCall
from backends.timing.pace import Pace
from backends.timing.queued import QueuedCall
from backends.timing.sampled import PLAIN, Manner, Sampled
from backends.timing.wall_clock import WallCall

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData, PreparedCall
    from backends.measured import KernelNode
    from backends.memory import GraphMemory
    from backends.spec import TimingSpec
    from backends.timing.instruments import Instruments


class Timed(Protocol):
    """``mode`` "graph" or "eager". ``memory`` is the graph's, None where there is none, ``nodes`` the kernels of one recorded call,
    ``only_kernels`` where it surely is nothing else. ``spacer_us`` was taken off each launch for a kernel that stood between two;
    None = none did. ``slots`` pools are rotated over; ``written`` are those that one `shot` writes to."""

    mode: str
    slots: int
    pace: Pace

    @property
    def memory(self) -> GraphMemory | None: ...

    @property
    def nodes(self) -> tuple[KernelNode, ...]: ...

    @property
    def only_kernels(self) -> bool: ...

    @property
    def spacer_us(self) -> float | None: ...

    @property
    def written(self) -> range: ...

    def shot(self) -> torch.Tensor:
        """The step's metadata and one run; the output of pool slot ``slots - 1``."""

    def run_once(self) -> torch.Tensor:
        """The run alone, inside ``call.active()`` and after ``call.plan()``."""

    def visit(self) -> Sampled: ...

    def served_us(self) -> float | None:
        """Time from one call to the next as they are launched, host included; None where the engine replays a graph."""

    def close(self) -> None: ...


def make_timed(
    call: PreparedCall, data: CellData, slots: int, timing: TimingSpec, manner: Manner = PLAIN, instruments: Instruments | None = None
) -> Timed:
    """Capture what the engine would capture, and settle the pace. Raises what the first launches raise."""
    if not _apart(data, slots):
        raise ValueError(f"cell {data.cell.name} rotates over {slots} pools that share memory; each layer needs its own")
    if data.q.device.type == "cpu":
        return WallCall(call, slots, timing, manner)
    clock = instruments.clock if instruments else None
    if not call.graph:
        return QueuedCall(call, slots, timing, manner, clock)
    spacer = instruments.between(data.cell.name) if instruments and manner.spaced else None
    return ReplayedCall(call, slots, timing, manner, spacer, clock)


def _apart(data: CellData, slots: int) -> bool:
    """Whether no two tensors of the pools begin at one address; of latent attention V is the head of K."""
    kept = (data.pool.k,) if data.cell.layer.latent else (data.pool.k, data.pool.v)
    addresses = {layer.data_ptr() for layers in kept for layer in layers[:slots]}
    return len(addresses) == len(kept) * slots

"""How much device memory something takes: what torch's allocator held before it and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

Reading = Callable[[], "int | None"]


@dataclass(frozen=True)
class GraphMemory:
    """``taken_bytes``: what the allocator took from the device for a graph's private pool, kept until the graph is dropped.
    ``live_bytes``: tensors in it that outlive the recording (its last output)."""

    taken_bytes: int | None
    live_bytes: int | None


class Growth:
    """Bytes that ``read`` gained since this was made; None where it reads None, as on a CPU, where nothing is counted."""

    def __init__(self, read: Reading) -> None:
        self._read = read
        self._before = read()

    @property
    def bytes(self) -> int | None:
        now = self._read()
        return None if now is None or self._before is None else now - self._before


def held(device: torch.device) -> Reading:
    """Reads the bytes of live tensors. What a library takes from the driver past torch is not seen."""
    import torch

    return (lambda: int(torch.cuda.memory_allocated(device))) if device.type == "cuda" else _nothing


def taken(device: torch.device) -> Reading:
    """Reads what the allocator has from the device: live tensors, private pools of graphs, and what it keeps for later."""
    import torch

    return (lambda: int(torch.cuda.memory_reserved(device))) if device.type == "cuda" else _nothing


def _nothing() -> None:
    return None


def total(*parts: int | None) -> int | None:
    """The sum; None as soon as one part is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None

"""What one process measures a GPU with beside events; each is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from backends.timing.sm_clock import SmClock, sm_clock
from backends.timing.spacer import Filler, Spacer
from backends.timing.stream import Stream

if TYPE_CHECKING:
    import torch


class Instruments:
    """``streamed``: cells, and how many bytes are read between two launches there, where something is to stand between."""

    def __init__(self, device: torch.device, streamed: Mapping[str, int] | None = None) -> None:
        self._device = device
        self._streamed = dict(streamed or {})
        self._streams: dict[int, Stream] = {}

    def between(self, cell: str) -> Filler:
        """What stands between two launches on ``cell``. Raises `CudaRefused` where that is code of ours and the driver takes none."""
        size_bytes = self._streamed.get(cell)
        if size_bytes is None:
            return self.spacer
        if size_bytes not in self._streams:
            self._streams[size_bytes] = Stream(self._device, size_bytes)
        return self._streams[size_bytes]

    @cached_property
    def clock(self) -> SmClock | None:
        """None where the driver loads no code of ours."""
        return sm_clock(self._device)

    @cached_property
    def spacer(self) -> Spacer:
        return Spacer(self._device)

"""What one process measures a GPU with beside events; each is made when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from backends.timing.sm_clock import SmClock, sm_clock
from backends.timing.spacer import Spacer

if TYPE_CHECKING:
    import torch


class Instruments:
    def __init__(self, device: torch.device) -> None:
        self._device = device

    @cached_property
    def clock(self) -> SmClock | None:
        """None where the driver loads no code of ours."""
        return sm_clock(self._device)

    @cached_property
    def spacer(self) -> Spacer:
        return Spacer(self._device)

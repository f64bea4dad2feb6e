"""Drivers for whole jobs on this CPU: right ones, and some that go wrong. They travel with the worker as a third party's do."""

from __future__ import annotations

import ctypes
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from backends.cell import Phase
from backends.torch_sdpa import TorchSdpa

if TYPE_CHECKING:
    from backends.driver import CellData, PreparedCall


class Slow(TorchSdpa):
    """Right, and some milliseconds slower."""

    def prepare(self, data: CellData) -> PreparedCall:
        return around(super().prepare(data), lambda launch, slot: time.sleep(4e-3) or launch(slot))


class Wrong(TorchSdpa):
    """Three percent off."""

    def prepare(self, data: CellData) -> PreparedCall:
        return around(super().prepare(data), lambda launch, slot: launch(slot) * 1.03)


class DiesInWarmUp(TorchSdpa):
    """Right alone; in a round it takes the process with it, on decode."""

    def prepare(self, data: CellData) -> PreparedCall:
        call = super().prepare(data)
        if data.cell.phase is Phase.PREFILL:
            return call
        return around(call, lambda launch, slot: ctypes.string_at(0) if warming_up() else launch(slot))


def around(call: Any, changed: Callable[[Any, int], Any]) -> PreparedCall:
    """``call`` with its launch replaced by ``changed``, which is given the old one."""
    launch = call.launch
    call.launch = lambda slot: changed(launch, slot)
    return call


def warming_up() -> bool:
    return any(frame.f_code.co_name == "warm_up" for frame, _ in traceback.walk_stack(None))

"""What `backends.nvml` makes of the management library's answers."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from backends import nvml
from backends.nvml import CORRECTED, UNCORRECTED, Device
from backends.timing.sentry import BoardReader

SUCCESS, NOT_SUPPORTED, TIMEOUT = 0, 3, 10


class Library:
    """Two processes, an uncorrected error, and two Xids that came meanwhile."""

    def __init__(self) -> None:
        self.xids = [79, 31]

    def nvmlDeviceGetComputeRunningProcesses_v3(self, handle: Any, room: Any, found: Any) -> int:
        for place, pid in enumerate((4711, 4242)):
            found[place].pid = pid
        room._obj.value = 2
        return SUCCESS

    def nvmlDeviceGetTotalEccErrors(self, handle: Any, kind: ctypes.c_int, counter: Any, count: Any) -> int:
        count._obj.value = {CORRECTED: 12, UNCORRECTED: 1}[kind.value]
        return SUCCESS

    def nvmlEventSetCreate(self, events: Any) -> int:
        events._obj.value = 0x5E7
        return SUCCESS

    def nvmlDeviceRegisterEvents(self, handle: Any, kinds: ctypes.c_ulonglong, events: ctypes.c_void_p) -> int:
        return SUCCESS if (kinds.value, events.value) == (8, 0x5E7) else NOT_SUPPORTED

    def nvmlEventSetWait_v2(self, events: ctypes.c_void_p, event: Any, limit_ms: ctypes.c_uint) -> int:
        if not self.xids:
            return TIMEOUT
        event._obj.data = self.xids.pop(0)
        return SUCCESS

    def nvmlDeviceGetClockInfo(self, handle: Any, kind: int, answer: Any) -> int:
        answer._obj.value = {nvml.CLOCK_SM: 1980, nvml.CLOCK_MEMORY: 3201}[kind]
        return SUCCESS


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    library = Library()
    monkeypatch.setattr(nvml, "initialised", lambda: library)
    return Device(ctypes.c_void_p(1))


def test_processes_errors_and_clocks_are_told(device: Device) -> None:
    assert device.compute_processes() == (4242, 4711)
    assert (device.ecc_errors(CORRECTED), device.ecc_errors(UNCORRECTED)) == (12, 1)
    assert (device.sm_clock_mhz(), device.memory_clock_mhz()) == (1980, 3201)


def test_xids_are_told_once(device: Device) -> None:
    xids = device.watch_xids()
    assert xids is not None and xids.new() == (79, 31) and xids.new() == ()


def test_of_a_gpu_that_others_share_no_process_and_no_error_report_is_read(device: Device) -> None:
    alone, shared = BoardReader(device).reading(), BoardReader(device, shared=True).reading()
    assert (alone.processes, alone.xids) == ((4242, 4711), (79, 31)) and alone.memory_clock_mhz == shared.memory_clock_mhz == 3201
    assert (shared.processes, shared.xids, shared.uncorrected_errors) == (None, None, 1)


def test_a_library_that_lacks_a_call_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "initialised", lambda: object())
    device = Device(ctypes.c_void_p(1))
    assert device.compute_processes() is device.ecc_errors(CORRECTED) is device.watch_xids() is device.memory_clock_mhz() is None

"""What NVML allows this account and this machine: some readings are refused to virtual machines, MIG slices and containers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from backends import nvml
from backends.condition import Management
from backends.worker import board

READINGS: dict[str, Callable[[nvml.Device], object]] = {
    "memory in use": nvml.Device.memory,
    "utilization": nvml.Device.utilization_percent,
    "power limit": nvml.Device.power_limit_w,
    "power": nvml.Device.power_w,
    "SM clock": nvml.Device.sm_clock_mhz,
    "temperature": nvml.Device.temperature_c,
    "clock event reasons": nvml.Device.clock_event_reasons,
}


def asked() -> Management:
    if nvml.initialised() is None:
        return Management(_refusal())
    gpu = board.first_gpu()
    readings = tuple((name, read(gpu) is not None) for name, read in READINGS.items()) if gpu else ()
    return Management(None, nvml.device_count(), readings)


def _refusal() -> str:
    """Why the library does not start, in its own words ("Driver/library version mismatch")."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        code = library.nvmlInit_v2()
        library.nvmlErrorString.restype = ctypes.c_char_p
        said: bytes = library.nvmlErrorString(code)
    except (OSError, AttributeError):
        return "libnvidia-ml.so.1 is not there"
    return said.decode()

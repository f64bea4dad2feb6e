"""NVIDIA's management library through ctypes: what the driver says of a board, without a CUDA context.

A call that the driver refuses, or that a virtual machine or MIG slice lacks, gives None: unknown is never assumed good.
Source of names and constants: nvml.h of CUDA 13.0.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from backends.nvml_structures import DeviceAttributes, EventData, MemoryInfo, ProcessInfo, Utilization

CLOCK_SM, CLOCK_MEMORY = 1, 2
EXCLUSIVE_MODES = (1, 3)  # NVML_COMPUTEMODE_EXCLUSIVE_THREAD, which today means the same as ..._PROCESS
TEMPERATURE_GPU = 0
TEXT_BYTES = 96
CORRECTED, UNCORRECTED, SINCE_BOOT = 0, 1, 0  # nvmlMemoryErrorType_t; nvmlEccCounterType_t's volatile counter
XID_EVENT = 0x8
ROOM_FOR_PROCESSES = 64


@dataclass(frozen=True)
class Memory:
    total_bytes: int
    used_bytes: int


@dataclass(frozen=True)
class MigAttributes:
    """Of one MIG slice: a GPU instance of ``gpu_slices`` sevenths, of which ``compute_slices`` are this one's."""

    sm_count: int
    gpu_slices: int
    compute_slices: int
    memory_mib: int


@cache
def initialised() -> Any | None:
    """The initialised library, None without a driver."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        return nvml if nvml.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def driver_version() -> str | None:
    buffer = ctypes.create_string_buffer(TEXT_BYTES)
    return buffer.value.decode() if _call("nvmlSystemGetDriverVersion", buffer, TEXT_BYTES) else None


def device_count() -> int:
    """GPUs of the machine, hidden ones too; 0 without a driver."""
    count = ctypes.c_uint()
    return count.value if _call("nvmlDeviceGetCount_v2", ctypes.byref(count)) else 0


def device_by_uuid(uuid: str) -> Device | None:
    """``uuid`` as NVML prints it: "GPU-..." or "MIG-..."."""
    handle = ctypes.c_void_p()
    found = _call("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(handle))
    return Device(handle) if found else None


def _call(function: str, *arguments: Any) -> bool:
    nvml = initialised()
    try:
        return nvml is not None and getattr(nvml, function)(*arguments) == 0
    except AttributeError:  # an older driver
        return False


class Xids:
    """The driver's reports of errors on one GPU since this was made; ``_set`` is NVML's event set."""

    def __init__(self, event_set: ctypes.c_void_p) -> None:
        self._set = event_set

    def new(self) -> tuple[int, ...]:
        """Numbers of those that came since the last call; waits for nothing."""
        event, found = EventData(), []
        while _call("nvmlEventSetWait_v2", self._set, ctypes.byref(event), ctypes.c_uint(0)):
            found.append(int(event.data))
        return tuple(found)


class Device:
    """One GPU or MIG slice. Every reading may be None."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle

    def name(self) -> str | None:
        return self._text("nvmlDeviceGetName")

    def uuid(self) -> str | None:
        return self._text("nvmlDeviceGetUUID")

    def whole(self) -> Device:
        """The GPU that a MIG slice is cut from; the device itself where it is none."""
        parent = ctypes.c_void_p()
        found = _call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", self._handle, ctypes.byref(parent))
        return Device(parent) if found else self

    def memory(self) -> Memory | None:
        answer = MemoryInfo(version=ctypes.sizeof(MemoryInfo) | 2 << 24)
        if not _call("nvmlDeviceGetMemoryInfo_v2", self._handle, ctypes.byref(answer)):
            return None
        return Memory(answer.total, answer.used)

    def mig_attributes(self) -> MigAttributes | None:
        answer = DeviceAttributes()
        if not _call("nvmlDeviceGetAttributes_v2", self._handle, ctypes.byref(answer)):
            return None
        return MigAttributes(answer.sm_count, answer.gpu_slices, answer.compute_slices, answer.memory_mib)

    def compute_mode(self) -> int | None:
        """In `EXCLUSIVE_MODES` a second process gets no context."""
        return self._number("nvmlDeviceGetComputeMode")

    def utilization_percent(self) -> int | None:
        """Share of the driver's last sampling period (up to a second) in which a kernel ran."""
        answer = Utilization()
        return answer.gpu if _call("nvmlDeviceGetUtilizationRates", self._handle, ctypes.byref(answer)) else None

    def power_limit_w(self) -> float | None:
        milliwatts = self._number("nvmlDeviceGetEnforcedPowerLimit")
        return None if milliwatts is None else milliwatts / 1000

    def power_w(self) -> float | None:
        milliwatts = self._number("nvmlDeviceGetPowerUsage")
        return None if milliwatts is None else milliwatts / 1000

    def max_sm_clock_mhz(self) -> int | None:
        return self._number("nvmlDeviceGetMaxClockInfo", CLOCK_SM)

    def sm_clock_mhz(self) -> int | None:
        return self._number("nvmlDeviceGetClockInfo", CLOCK_SM)

    def memory_clock_mhz(self) -> int | None:
        return self._number("nvmlDeviceGetClockInfo", CLOCK_MEMORY)

    def near_processors(self) -> frozenset[int] | None:
        """Numbers of the processors on this GPU's NUMA node."""
        bits = 8 * ctypes.sizeof(ctypes.c_ulong)
        words = (ctypes.c_ulong * ((os.cpu_count() or 1) // bits + 1))()
        if not _call("nvmlDeviceGetCpuAffinity", self._handle, ctypes.c_uint(len(words)), words):
            return None
        return frozenset(place * bits + bit for place, word in enumerate(words) for bit in range(bits) if word >> bit & 1)

    def compute_processes(self) -> tuple[int, ...] | None:
        """Ids of those with a context, ours among them; in a container they are the host's, or none at all."""
        room, found = ctypes.c_uint(ROOM_FOR_PROCESSES), (ProcessInfo * ROOM_FOR_PROCESSES)()
        told = _call("nvmlDeviceGetComputeRunningProcesses_v3", self._handle, ctypes.byref(room), found)
        return tuple(sorted(process.pid for process in found[: room.value])) if told else None

    def ecc_errors(self, kind: int) -> int | None:
        """`CORRECTED` or `UNCORRECTED` ones since the driver was loaded."""
        count = ctypes.c_ulonglong()
        told = _call("nvmlDeviceGetTotalEccErrors", self._handle, ctypes.c_int(kind), ctypes.c_int(SINCE_BOOT), ctypes.byref(count))
        return count.value if told else None

    def watch_xids(self) -> Xids | None:
        """None where the driver reports none to us."""
        events = ctypes.c_void_p()
        made = _call("nvmlEventSetCreate", ctypes.byref(events))
        if not made or not _call("nvmlDeviceRegisterEvents", self._handle, ctypes.c_ulonglong(XID_EVENT), events):
            return None
        return Xids(events)

    def temperature_c(self) -> int | None:
        return self._number("nvmlDeviceGetTemperature", TEMPERATURE_GPU)

    def clock_event_reasons(self) -> int | None:
        """Bit mask of what holds the clocks down now (nvmlClocksEventReason* in nvml.h)."""
        answer = ctypes.c_ulonglong()
        names = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")  # new and old name
        return answer.value if any(_call(name, self._handle, ctypes.byref(answer)) for name in names) else None

    def _text(self, function: str) -> str | None:
        buffer = ctypes.create_string_buffer(TEXT_BYTES)
        return buffer.value.decode() if _call(function, self._handle, buffer, TEXT_BYTES) else None

    def _number(self, function: str, *arguments: int) -> int | None:
        answer = ctypes.c_uint()
        return answer.value if _call(function, self._handle, *arguments, ctypes.byref(answer)) else None

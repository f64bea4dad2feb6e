"""NVIDIA's driver as far as a board is read through it: one GPU and the slices it is cut into."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import pytest

from backends import cuda_driver, nvml
from backends.cuda_driver import CudaDevice

GPU_UUID, SLICE_UUID = "11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000"
NOT_FOUND = 6
MIB = 1 << 20


@dataclass(frozen=True)
class Part:
    """A GPU or a slice as NVML shows it. Slices have no power limit of their own."""

    name: str
    memory_mib: int
    attributes: tuple[int, int, int] | None = None  # SMs, GPU slices, compute slices


WHOLE = Part("NVIDIA H200", 143771)
SLICE = Part("NVIDIA H200 MIG 3g.71gb", 71424, (60, 3, 3))


class Nvml:
    """The functions of libnvidia-ml that `backends.nvml` calls; handles are positions in ``parts``, the whole GPU first."""

    def __init__(self, parts: dict[str, Part]) -> None:
        self.uuids, self.parts = list(parts), list(parts.values())

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        if uuid.decode() not in self.uuids:
            return NOT_FOUND
        handle._obj.value = self.uuids.index(uuid.decode()) + 1
        return 0

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: ctypes.c_void_p, parent: Any) -> int:
        parent._obj.value = 1
        return 0 if handle.value != 1 else NOT_FOUND

    def nvmlDeviceGetName(self, handle: ctypes.c_void_p, buffer: Any, _: int) -> int:
        buffer.value = self._part(handle).name.encode()
        return 0

    def nvmlDeviceGetMemoryInfo_v2(self, handle: ctypes.c_void_p, answer: Any) -> int:
        answer._obj.total = self._part(handle).memory_mib * MIB
        return 0

    def nvmlDeviceGetAttributes_v2(self, handle: ctypes.c_void_p, answer: Any) -> int:
        part = self._part(handle)
        if part.attributes is None:
            return NOT_FOUND
        answer._obj.sm_count, answer._obj.gpu_slices, answer._obj.compute_slices = part.attributes
        answer._obj.memory_mib = part.memory_mib
        return 0

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: ctypes.c_void_p, answer: Any) -> int:
        answer._obj.value = 700_000
        return 0 if handle.value == 1 else NOT_FOUND

    def nvmlDeviceGetMaxClockInfo(self, handle: ctypes.c_void_p, _: int, answer: Any) -> int:
        answer._obj.value = 1980
        return 0 if handle.value == 1 else NOT_FOUND

    def nvmlDeviceGetCpuAffinity(self, handle: ctypes.c_void_p, size: ctypes.c_uint, words: Any) -> int:
        words[0] = 0b101
        return 0 if handle.value == 1 and size.value == len(words) else NOT_FOUND

    def nvmlSystemGetDriverVersion(self, buffer: Any, _: int) -> int:
        buffer.value = b"580.95.05"
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = 1
        return 0

    def _part(self, handle: ctypes.c_void_p) -> Part:
        return self.parts[(handle.value or 1) - 1]


def cuda_device(uuid: str, sm_count: int = 132, name: str = "NVIDIA H200") -> CudaDevice:
    return CudaDevice(name, uuid, 90, sm_count, 62914560, 232448, 150109880320, 3_201_000, 6016)


def install(monkeypatch: pytest.MonkeyPatch, *devices: CudaDevice, part: Part = SLICE) -> None:
    """A machine whose CUDA shows ``devices``, in that order; its GPU is cut into one slice, ``part``."""
    library = Nvml({f"GPU-{GPU_UUID}": WHOLE, f"MIG-{SLICE_UUID}": part})
    monkeypatch.setattr(nvml, "initialised", lambda: library)
    monkeypatch.setattr(cuda_driver, "visible_devices", lambda: devices)
    monkeypatch.setattr(cuda_driver, "cuda_version", lambda: "13.0")

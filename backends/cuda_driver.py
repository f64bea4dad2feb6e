"""The CUDA driver through ctypes, as far as it answers without a context: which device is ours and what it is.

Source of names and attribute numbers: cuda.h of CUDA 13.0 (CUdevice_attribute).
"""

from __future__ import annotations

import ctypes
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any

ATTRIBUTES = {"sm_count": 16, "memory_clock_khz": 36, "memory_bus_bits": 37, "l2_bytes": 38, "sm_major": 75, "sm_minor": 76}
ATTRIBUTES |= {"smem_per_block_bytes": 97}  # the opt-in maximum
NAME_BYTES = 256


@dataclass(frozen=True)
class CudaDevice:
    """``uuid`` without a prefix; in MIG mode it is the slice's. ``sm`` = compute capability x 10."""

    name: str
    uuid: str | None
    sm: int
    sm_count: int | None
    l2_bytes: int | None
    smem_per_block_bytes: int | None
    memory_bytes: int | None
    memory_clock_khz: int | None = None
    memory_bus_bits: int | None = None

    @property
    def bandwidth_bytes_per_s(self) -> float | None:
        """Two transfers a memory clock over the whole bus."""
        if not self.memory_clock_khz or not self.memory_bus_bits:
            return None
        return 2 * self.memory_clock_khz * 1e3 * self.memory_bus_bits / 8


def first_device() -> CudaDevice | None:
    """Device 0 as CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER leave it, the one that torch calls cuda:0; None without driver
    or device."""
    return next(iter(visible_devices()), None)


@cache
def visible_devices() -> tuple[CudaDevice, ...]:
    """In CUDA's order. Makes no context and takes no device memory."""
    driver, count = initialised(), ctypes.c_int()
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return ()
    found = (_device(driver, index) for index in range(count.value))
    return tuple(device for device in found if device is not None)


@cache
def initialised() -> Any | None:
    """The initialised driver, None where there is none or it shows no device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        return driver if driver.cuInit(0) == 0 else None
    except (OSError, AttributeError):
        return None


def cuda_version() -> str | None:
    """The newest CUDA that the driver serves, "13.0"."""
    driver, version = initialised(), ctypes.c_int()
    if driver is None or driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def context_is_open() -> bool:
    """Whether this process has a primary context on its first device; opens none by asking."""
    driver, device, flags, active = initialised(), ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
    if driver is None or driver.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return False
    return driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) == 0 and active.value == 1


def _device(driver: Any, index: int) -> CudaDevice | None:
    device = ctypes.c_int()
    return _describe(driver, device) if driver.cuDeviceGet(ctypes.byref(device), index) == 0 else None


def _describe(driver: Any, device: ctypes.c_int) -> CudaDevice | None:
    values = {name: _attribute(driver, device, number) for name, number in ATTRIBUTES.items()}
    major, minor = values.pop("sm_major"), values.pop("sm_minor")
    if major is None or minor is None:
        return None
    sm = major * 10 + minor
    return CudaDevice(_name(driver, device), _uuid(driver, device), sm, memory_bytes=_memory(driver, device), **values)


def _attribute(driver: Any, device: ctypes.c_int, number: int) -> int | None:
    value = ctypes.c_int()
    return value.value if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0 else None


def _name(driver: Any, device: ctypes.c_int) -> str:
    buffer = ctypes.create_string_buffer(NAME_BYTES)
    return buffer.value.decode() if driver.cuDeviceGetName(buffer, NAME_BYTES, device) == 0 else "unnamed CUDA device"


def _uuid(driver: Any, device: ctypes.c_int) -> str | None:
    buffer = ctypes.create_string_buffer(16)
    if not hasattr(driver, "cuDeviceGetUuid_v2") or driver.cuDeviceGetUuid_v2(buffer, device) != 0:
        return None
    return str(uuid.UUID(bytes=buffer.raw))


def _memory(driver: Any, device: ctypes.c_int) -> int | None:
    value = ctypes.c_size_t()
    return value.value if driver.cuDeviceTotalMem_v2(ctypes.byref(value), device) == 0 else None

"""The CUDA driver through ctypes, as far as it answers without a context: which device is ours and what it is.

Source of names and attribute numbers: cuda.h of CUDA 13.0 (CUdevice_attribute).
"""

from __future__ import annotations

import ctypes
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any

ATTRIBUTES = {"sm_count": 16, "l2_bytes": 38, "sm_major": 75, "sm_minor": 76, "smem_per_block_bytes": 97}  # 97: opt-in maximum
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


@cache
def first_device() -> CudaDevice | None:
    """Device 0 as CUDA_VISIBLE_DEVICES leaves it, the one that torch calls cuda:0; None without driver or device.

    Makes no context and takes no device memory.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return None
    return _describe(driver, device)


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

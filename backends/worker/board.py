"""The board under this worker, and whether somebody else is using it."""

from __future__ import annotations

import os
import platform
import time
from functools import cache

from backends import cuda_driver, nvml
from backends.environment import Board

NOT_VERIFIABLE = "not verifiable"
BUSY_BYTES = 256 << 20  # below what one CUDA context takes (an H200: 0.5 GiB), above what a display does
BUSY_PERCENT = 5
LOOKS, LOOK_S = 4, 0.15

Busy = dict[str, int | None] | str | None


def here(cuda_build: bool) -> Board:
    """The first visible GPU where torch is a CUDA build, the processor otherwise."""
    device = cuda_driver.first_device() if cuda_build else None
    return _processor() if device is None else _gpu(device)


def busy(board: Board) -> Busy:
    """What others use of the board, read before our first allocation: None = nothing worth mentioning.

    Judged by memory in use and utilisation, since NVML's process list holds another namespace's ids in a container.
    """
    handle = _handle(board.uuid)
    memory = handle.memory() if handle else None
    if handle is None or memory is None:
        return NOT_VERIFIABLE
    load = _peak_load(handle)
    if memory.used_bytes < BUSY_BYTES and (load or 0) < BUSY_PERCENT:
        return None
    return {"memory_bytes": memory.used_bytes, "utilization_percent": load}


def first_gpu() -> nvml.Device | None:
    """The first visible GPU as NVML knows it (of a MIG slice, the GPU it is cut from); None where it does not."""
    device = cuda_driver.first_device()
    handle = _handle(_full_uuid(device.uuid)) if device else None
    return handle.whole() if handle else None


def _peak_load(handle: nvml.Device) -> int | None:
    looks = []
    for _ in range(LOOKS):
        looks.append(handle.utilization_percent())
        time.sleep(LOOK_S)
    return max((look for look in looks if look is not None), default=None)


def _gpu(device: cuda_driver.CudaDevice) -> Board:
    uuid = _full_uuid(device.uuid)
    handle = _handle(uuid)
    whole = handle.whole() if handle else None
    memory = handle.memory() if handle else None
    return Board(
        kind="cuda",
        name=whole and whole.name() or device.name,
        sm=device.sm,
        uuid=uuid,
        memory_bytes=memory.total_bytes if memory else device.memory_bytes,
        power_limit_w=whole.power_limit_w() if whole else None,
        mig=_slice(handle, uuid),
        driver=nvml.driver_version(),
        sm_count=device.sm_count,
        l2_bytes=device.l2_bytes,
        smem_per_block_bytes=device.smem_per_block_bytes,
        max_sm_clock_mhz=whole.max_sm_clock_mhz() if whole else None,
    )


def _full_uuid(bare: str | None) -> str | None:
    """The driver tells a UUID without saying whether it is a GPU's or a MIG slice's; NVML knows just one of the two."""
    if bare is None:
        return None
    return next((full for full in (f"GPU-{bare}", f"MIG-{bare}") if nvml.device_by_uuid(full)), f"GPU-{bare}")


def _handle(uuid: str | None) -> nvml.Device | None:
    return None if uuid is None else nvml.device_by_uuid(uuid)


def _slice(handle: nvml.Device | None, uuid: str | None) -> str | None:
    """Of "NVIDIA H200 MIG 1g.18gb" the "1g.18gb"."""
    if handle is None or uuid is None or not uuid.startswith("MIG-"):
        return None
    return (handle.name() or "").partition(" MIG ")[2] or "unnamed slice"


def _processor() -> Board:
    facts = _cpuinfo()
    return Board(
        kind="cpu",
        name=facts.get("model name") or platform.processor() or platform.machine(),
        sm=None,
        uuid=None,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        power_limit_w=None,
        mig=None,
        driver=None,
        amx="amx_tile" in facts.get("flags", "").split(),
    )


@cache
def _cpuinfo() -> dict[str, str]:
    """The first processor's entries of /proc/cpuinfo."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            first = file.read().split("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}

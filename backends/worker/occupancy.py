"""Whether somebody else is using the board under this worker, as NVML tells it."""

from __future__ import annotations

import time

from backends import cuda_driver, nvml
from backends.environment import Board
from backends.worker.board import first_device

NOT_VERIFIABLE = "not verifiable"
BUSY_BYTES = 256 << 20  # below what one CUDA context takes (an H200: 0.5 GiB), above what a display does
BUSY_PERCENT = 5
LOOKS, LOOK_S = 4, 0.15

Busy = dict[str, int | None] | str | None


def busy(board: Board) -> Busy:
    """What others use of the board, read before our first allocation: None = nothing worth mentioning.

    Judged by memory in use and utilisation, since NVML's process list holds another namespace's ids in a container.
    """
    handle = _handle(board)
    memory = handle.memory() if handle else None
    if handle is None or memory is None:
        return NOT_VERIFIABLE
    load = _peak_load(handle)
    if memory.used_bytes < BUSY_BYTES and (load or 0) < BUSY_PERCENT:
        return None
    return {"memory_bytes": memory.used_bytes, "utilization_percent": load}


def exclusive(board: Board) -> bool:
    """Whether one process at a time may stand on it."""
    handle = _handle(board)
    return handle is not None and handle.whole().compute_mode() in nvml.EXCLUSIVE_MODES


def taken_bytes() -> int | None:
    """Memory in use on the first visible device; None = nothing worth mentioning, not told, or this process has taken some itself.

    Its load is not asked for: it tells of up to a second ago, when a process of ours may have worked there.
    """
    if cuda_driver.context_is_open():
        return None
    device = first_device()
    memory = device.memory() if device else None
    return memory.used_bytes if memory and memory.used_bytes >= BUSY_BYTES else None


def _handle(board: Board) -> nvml.Device | None:
    return None if board.uuid is None else nvml.device_by_uuid(board.uuid)


def _peak_load(handle: nvml.Device) -> int | None:
    looks = []
    for _ in range(LOOKS):
        looks.append(handle.utilization_percent())
        time.sleep(LOOK_S)
    return max((look for look in looks if look is not None), default=None)

"""What the measuring process asks of its device: memory, last-level cache, an idle queue."""

from __future__ import annotations

import glob
import resource
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

CPU_CACHE_BYTES = 32 << 20  # where the kernel does not tell: a common last-level cache of a server core's cluster
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


def open_device(kind: str) -> torch.device:
    """The first visible device of ``kind`` ("cuda" or "cpu"). Raises RuntimeError when torch sees none."""
    import torch

    if kind == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RuntimeError("a CUDA device was asked for and torch sees none; check the driver, or choose gpu=auto")
    torch.cuda.set_device(0)
    return torch.device("cuda", 0)


def dtype_of(name: str) -> torch.dtype:
    """The torch dtype of a torch name ("bfloat16", "float8_e4m3fn"). Raises ValueError for any other text."""
    import torch

    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name!r} names no torch dtype; use a name such as bfloat16")
    return found


def cache_bytes(device: torch.device) -> int:
    """Size of the last cache before memory: L2 of a GPU, the highest level Linux reports of CPU 0."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    sizes = [_kibibytes(Path(path).read_text()) for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size")]
    return max(sizes, default=CPU_CACHE_BYTES)


def _kibibytes(text: str) -> int:
    """Bytes of sysfs' "32768K"."""
    return int(text.strip().rstrip("K")) << 10


def free_bytes(device: torch.device) -> int:
    """Memory that can be had now; on a CPU within the control group's limit."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return min([_available_bytes(), *_cgroup_room()])


def _available_bytes() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


def _cgroup_room() -> list[int]:
    """The bytes left under the control group's limit; empty where there is none."""
    try:
        return [int(CGROUP_LIMIT.read_text()) - int(CGROUP_USED.read_text())]
    except (OSError, ValueError):  # no cgroup v2, or "max"
        return []


def limit_memory(device: torch.device, budget_bytes: int) -> None:
    """Make torch's allocator fail beyond ``budget_bytes`` on a GPU, so that one arm cannot take what others use."""
    import torch

    if device.type == "cuda":
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, budget_bytes / total), device)


def synchronize(device: torch.device) -> None:
    """Wait until the device's queue is empty. Raises what a faulty kernel left behind."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def release(device: torch.device) -> None:
    """Give back what is no longer referenced, as after an arm that ran out of memory."""
    import gc

    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def restart_peak(device: torch.device) -> None:
    """Start a new count of `peak_bytes`; a CPU process has only the one of its whole life."""
    import torch

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_bytes(device: torch.device) -> int:
    """The most memory held at once since `restart_peak`, pools included: torch's on a GPU, the process's on a CPU."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

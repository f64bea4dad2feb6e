"""What this machine has, for `gpu=auto`: its first visible NVIDIA GPU, else its CPU. Without torch; no driver is a normal case."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.gpu import Gpu

CPUINFO = Path("/proc/cpuinfo")


def machine_gpu() -> Gpu:
    return nvidia_gpu(os.environ.get("CUDA_VISIBLE_DEVICES")) or cpu()


def nvidia_gpu(visible: str | None) -> Gpu | None:
    """The first GPU of ``visible`` (CUDA_VISIBLE_DEVICES), None without a driver or a device."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        return _read_nvidia(pynvml, _first_visible(pynvml, visible))
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def cpu(cpuinfo: Path = CPUINFO) -> Gpu:
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    return Gpu(
        name=_cpuinfo_field(text, "model name") or platform.processor() or platform.machine(),
        kind="cpu",
        sm=None,
        sm_count=None,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        l2_bytes=None,
        bandwidth_bytes_per_s=None,
        peak_flops=None,
        smem_per_block_bytes=None,
        cuda=None,
        source="/proc/cpuinfo",
        amx="amx_tile" in (_cpuinfo_field(text, "flags") or "").split(),
    )


def _first_visible(nvml: Any, visible: str | None) -> Any:
    first = (visible or "0").split(",")[0].strip()
    return nvml.nvmlDeviceGetHandleByIndex(int(first)) if first.lstrip("-").isdigit() else nvml.nvmlDeviceGetHandleByUUID(first)


def _read_nvidia(nvml: Any, device: Any) -> Gpu:
    capability = _readable(nvml, nvml.nvmlDeviceGetCudaComputeCapability, device)
    memory = _readable(nvml, nvml.nvmlDeviceGetMemoryInfo, device)
    driver_cuda = _readable(nvml, nvml.nvmlSystemGetCudaDriverVersion)
    return Gpu(
        name=nvml.nvmlDeviceGetName(device),
        kind="cuda",
        sm=None if capability is None else 10 * capability[0] + capability[1],
        sm_count=None,
        memory_bytes=None if memory is None else memory.total,
        l2_bytes=None,
        bandwidth_bytes_per_s=_bandwidth_bytes_per_s(nvml, device),
        peak_flops=None,
        smem_per_block_bytes=None,
        cuda=None if driver_cuda is None else f"{driver_cuda // 1000}.{driver_cuda % 1000 // 10}",
        source="NVML",
    )


def _bandwidth_bytes_per_s(nvml: Any, device: Any) -> float | None:
    """Two transfers a memory clock over the whole bus."""
    clock_mhz = _readable(nvml, nvml.nvmlDeviceGetMaxClockInfo, device, nvml.NVML_CLOCK_MEM)
    bus_bits = _readable(nvml, nvml.nvmlDeviceGetMemoryBusWidth, device)
    return None if not clock_mhz or not bus_bits else 2 * clock_mhz * 1e6 * bus_bits / 8


def _readable(nvml: Any, read: Callable[..., Any], *arguments: Any) -> Any:
    """None where this board or driver does not tell (a MIG slice has no clocks)."""
    try:
        return read(*arguments)
    except nvml.NVMLError:
        return None


def _cpuinfo_field(text: str, name: str) -> str | None:
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.partition(":")[0].strip() == name), None)

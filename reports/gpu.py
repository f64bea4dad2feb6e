"""What a plan stands on: the GPU's figures, which of them are a datasheet's, and which nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from backends.gpu import Gpu
from reports import numbers
from reports.page import Section

MIB, KIB = 1 << 20, 1 << 10
UNITS = {"cuda": "SMs", "rocm": "compute units", "xpu": "Xe cores"}


def gpu_section(gpu: Gpu) -> Section:
    peaks = ", ".join(_peaks(gpu))
    unknown = ", ".join(_unknown(gpu))
    lines = (
        ", ".join(_facts(gpu)),
        f"nominal peaks (datasheet or driver), dense, not measured: {peaks}" if peaks else "",
        f"unknown: {unknown}" if unknown else "",
        f"source: {gpu.source}",
    )
    return Section(f"GPU: {gpu.name}" if gpu.kind != "cpu" else f"Processor: {gpu.name}", tuple(line for line in lines if line))


def _facts(gpu: Gpu) -> Iterator[str]:
    yield gpu.kind if gpu.sm is None else f"{gpu.kind}, sm {gpu.sm}"
    if gpu.arch is not None:
        yield gpu.arch
    if gpu.kind == "cpu":
        yield "with AMX" if gpu.amx else "without AMX"
    if gpu.sm_count is not None:
        yield f"{gpu.sm_count} {UNITS.get(gpu.kind, 'cores')}"
    if gpu.memory_bytes is not None:
        yield f"{numbers.gib(gpu.memory_bytes)} of memory"
    if gpu.l2_bytes is not None:
        yield f"{gpu.l2_bytes / MIB:g} MiB of L2"
    if gpu.smem_per_block_bytes is not None:
        yield f"{gpu.smem_per_block_bytes // KIB} KiB of shared memory a block"


def _peaks(gpu: Gpu) -> Iterator[str]:
    if gpu.bandwidth_bytes_per_s is not None:
        yield f"{gpu.bandwidth_bytes_per_s / 1e9:.0f} GB/s"
    if gpu.peak_flops is not None:
        yield f"{gpu.peak_flops / 1e12:.0f} TFLOP/s in bfloat16"
    if gpu.peak_flops_fp8 is not None:
        yield f"{gpu.peak_flops_fp8 / 1e12:.0f} TFLOP/s in fp8"


def _unknown(gpu: Gpu) -> Iterator[str]:
    """Figures that a plan or a limit would use. FP8 is left out: many GPUs have no units for it."""
    wanted = {"memory size": gpu.memory_bytes, "memory bandwidth": gpu.bandwidth_bytes_per_s, "peak arithmetic": gpu.peak_flops}
    if gpu.kind == "cuda":
        wanted |= {"compute capability": gpu.sm, "SM count": gpu.sm_count, "L2 size": gpu.l2_bytes}
        wanted |= {"shared memory a block": gpu.smem_per_block_bytes}
    return (name for name, value in wanted.items() if value is None)

"""The GPU."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tuner.schema import MISSING
from tuner.schema.simulated import SimulatedNode

GpuKind = Enum("GpuKind", ["auto", "cuda", "cpu", "rocm", "xpu", "npu", "mps"])


@dataclass
class GpuNode:
    name: str = MISSING
    kind: GpuKind = MISSING
    sm: int | None = None
    sm_count: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None
    bandwidth_bytes_per_s: float | None = None
    peak_flops: float | None = None
    peak_flops_fp8: float | None = None
    smem_per_block_bytes: int | None = None
    cuda: str | None = None
    amx: bool = False
    arch: str | None = None
    source: str = MISSING
    simulated: SimulatedNode | None = None

"""What is known of a GPU (or CPU): from a datasheet when planning, from the machine when measuring."""

from __future__ import annotations

from dataclasses import dataclass

# What torch calls the device ("rocm" = "cuda" of a HIP build). Drivers exist for the first two; the rest is planned for.
KINDS = ("cuda", "cpu", "rocm", "xpu", "npu", "mps")
MEASURED_KINDS = ("cuda", "cpu")


@dataclass(frozen=True)
class Gpu:
    """``sm`` = compute capability x 10 (H200: 90), None off NVIDIA, where ``arch`` names the architecture ("gfx942",
    "arm64"). ``sm_count`` counts what one work group occupies: SMs, compute units, Xe cores. Rates are nominal, a
    datasheet's or the driver's; arithmetic is dense (no structured sparsity), accumulated in float32, ``peak_flops`` that
    of bfloat16.

    ``kind`` is one of `KINDS`. Unknown is None, never 0.
    """

    name: str
    kind: str
    sm: int | None
    sm_count: int | None
    memory_bytes: int | None
    l2_bytes: int | None
    bandwidth_bytes_per_s: float | None
    peak_flops: float | None
    smem_per_block_bytes: int | None
    cuda: str | None
    source: str
    amx: bool = False
    peak_flops_fp8: float | None = None
    arch: str | None = None

"""What is known of a GPU (or CPU): from a datasheet when planning, from the machine when measuring."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """``sm`` = compute capability x 10 (H200: 90), None off NVIDIA. Rates are datasheet peaks, used in plans only.

    ``kind`` is "cuda" or "cpu". Unknown is None, never 0.
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

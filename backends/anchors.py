"""One process that measures its device and no arm."""

from __future__ import annotations

from backends.anchored import Anchors
from backends.bench import bench_for
from backends.spec import StageSpec

SEED = 0


def measure(stage: StageSpec, code: bytes | None) -> tuple[Anchors, bytes | None]:
    """The anchors, and the machine code they ran, which is ``code`` where that was given. Raises RuntimeError without the device."""
    bench = bench_for(stage, SEED)
    bench.open()
    with bench.working():
        return bench.anchors(stage.model.dtype, code)

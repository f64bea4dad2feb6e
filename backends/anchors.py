"""One process that measures its device and no arm."""

from __future__ import annotations

from backends.anchored import Anchors
from backends.bench import bench_for
from backends.company import await_others
from backends.phases import Phases, Say
from backends.spec import StageSpec, TimingSpec

SEED = 0


def measure(stage: StageSpec, timing: TimingSpec, code: bytes | None, say: Say) -> tuple[Anchors, bytes | None]:
    """The anchors, and the machine code they ran, which is ``code`` where that was given. Raises RuntimeError without the device."""
    bench = bench_for(stage, SEED)
    phases = Phases(say, bench.now)
    await_others(bench, phases)
    with phases.of("anchors"):
        bench.open()
        with bench.working():
            return bench.anchors(stage.model.dtype, timing, code)

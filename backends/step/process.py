"""One process that measures what of a step is not attention, and no arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

from backends.bench import bench_for
from backends.company import await_others
from backends.phases import Phases, Say
from backends.spec import StageSpec, TimingSpec
from backends.step.shape import RestTimes, StepShape

SEED = 0


def measure(stage: StageSpec, timing: TimingSpec, shapes: Iterable[StepShape], say: Say) -> Iterator[RestTimes]:
    """Each shape as soon as it is measured; one that was measured while the device was not at its usual pace has no times. Raises
    RuntimeError without the device, `Disturbed` for what no repeat mends."""
    bench = bench_for(stage, SEED)
    phases = Phases(say, bench.now)
    await_others(bench, phases)
    with phases.of("open"):
        bench.open()
    until: float | None = None  # one warm-up a process

    def warm() -> bool:
        nonlocal until
        until = bench.now() + timing.warmup_s if until is None else until
        return bench.now() >= until

    with bench.working(), closing(bench.lookout()) as lookout:
        for shape in shapes:
            with phases.of("timing", detail=f"the rest of a step of {shape.rows} tokens"):
                found = bench.rest_times(shape, timing, warm)
            void = lookout.look()
            bench.release()
            yield found if void is None else RestTimes(shape, found.mode, why_none=void)

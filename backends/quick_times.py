"""How slow an arm is on a cell, and how far that hangs on how it is timed; what it is compared by comes from rounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from backends.measured import Cost, Soundness
from backends.timing.metadata import metadata_us
from backends.timing.undisturbed import undisturbed
from backends.timing.ways import headline_us

if TYPE_CHECKING:
    from backends.probe import OpenArm
    from backends.seat import Seat

VISITS = 2  # the first warms up


@dataclass(frozen=True)
class Times:
    device_us: float
    served_us: float | None
    metadata_us: tuple[float, float]
    soundness: Soundness | None

    @property
    def cost(self) -> Cost:
        return Cost(headline_us(self.soundness, self.device_us), self.served_us, *self.metadata_us)


def quick_times(opened: OpenArm, seat: Seat) -> tuple[Times, tuple[str, ...]]:
    """The times, and why they had to be taken again, once for each time. Raises `Implausible`, and `Disturbed` as `undisturbed`."""
    voided: list[str] = []
    opened.lookout.look()  # what slowed the device before is no fault of these times
    return undisturbed(partial(_timed, opened, seat), opened.stand.bench, opened.lookout, voided), tuple(voided)


def _timed(opened: OpenArm, seat: Seat) -> tuple[str | None, Times]:
    """The call in every way once, and why that is void."""
    arm, cell, phases, bench = opened.arm.name, seat.data.cell.name, opened.phases, opened.stand.bench
    device_us = _device_us(opened, seat)
    with phases.of("timing", arm, cell, "other ways"):
        served_us = seat.timed.served_us()
        soundness = bench.soundness(seat.call, seat.timed, seat.data.pool.slots, opened.timing)
    with phases.of("metadata", arm, cell):
        metadata = metadata_us(seat.call, bench)
    return opened.lookout.look(), Times(device_us, served_us, metadata, soundness)


def _device_us(opened: OpenArm, seat: Seat) -> float:
    with opened.phases.of("timing", opened.arm.name, seat.data.cell.name), opened.lookout.during_visit():
        samples = [seat.timed.visit().us for _ in range(VISITS)][-1]
    opened.stand.require_plausible(seat.data.cell, opened.arm, samples)
    return median(samples)

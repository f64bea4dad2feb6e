"""What a process of the contest says, as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from backends.company import WAITING
from backends.measured import CellRound, Round, Visit
from backends.wire import from_plain
from tests.bench.peers.rows import Reading, Timed
from tuner.device.session import Session

BEFORE = ("import", WAITING)  # the first cell


class Heard:
    """What a process said, as it comes. ``started``: when its first cell began."""

    def __init__(self, session: Session, headline: str) -> None:
        self._session = session
        self._headline = headline
        self.started: float | None = None
        self.timed: list[Timed] = []
        self.readings: list[Reading] = []
        self.seconds: tuple[tuple[str, float], ...] = ()

    def hear(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "progress":
            self._began(event)
        elif event["event"] == "result":
            self.readings.append(_rounded(from_plain(Reading, event["result"])))
        elif event["event"] == "cell_round":
            self.timed.extend(timed_of(from_plain(CellRound, event["cell_round"])))
        elif event["event"] == "round":
            self.seconds = tuple((phase, round(spent, 3)) for phase, spent in from_plain(Round, event["round"]).seconds)

    def _began(self, event: Mapping[str, Any]) -> None:
        if event["phase"] not in BEFORE and self.started is None:
            self.started = time.monotonic()
            self._session.import_ahead()
        self._session.progress.phase(
            self._headline, " ".join(str(event[key]) for key in ("phase", "arm", "cell", "detail") if event.get(key))
        )


def timed_of(cell: CellRound) -> Iterable[Timed]:
    for arm in dict.fromkeys(visit.arm for visit in cell.visits):
        visits = [visit for visit in cell.visits if visit.arm == arm]
        served = tuple(round(visit.served_us, 2) for visit in visits if visit.served_us is not None)
        yield Timed(cell.cell, arm, tuple(map(_device_us, visits)), served, cell.settled)


def _device_us(visit: Visit) -> float:
    return round(median(visit.sample_us), 4)


def _rounded(reading: Reading) -> Reading:
    return replace(
        reading, us=tuple(round(us, 4) for us in reading.us), timing_s=round(reading.timing_s, 4), prepare_s=round(reading.prepare_s, 4)
    )

"""How a worker lets its controller down."""

from __future__ import annotations

from dataclasses import dataclass

from backends.outcome import Outcome
from tuner.errors import MeasurementInvalid


@dataclass(frozen=True)
class Place:
    """What the worker said last that it was doing."""

    phase: str | None = None
    arm: str | None = None
    cell: str | None = None

    def __str__(self) -> str:
        return ", ".join(part for part in (self.phase, self.arm, self.cell) if part)


class WorkerFailed(MeasurementInvalid):
    """A question that was not answered. ``detail`` is one sentence, ``talk`` the end of the worker's stderr;
    ``phase``, ``arm`` and ``cell`` are what it was at when it failed.

    One arm's loss where a probe asked; for who does not catch it, a measurement broken off.
    """

    def __init__(self, outcome: Outcome, detail: str, place: Place, talk: str = "") -> None:
        super().__init__(f"the worker failed ({outcome.value}){f' in {place}' if str(place) else ''}: {detail}")
        self.outcome = outcome
        self.detail = detail
        self.phase = place.phase
        self.arm = place.arm
        self.cell = place.cell
        self.talk = talk

    def __reduce__(self) -> tuple[type[WorkerFailed], tuple[Outcome, str, Place, str]]:
        """It may come out of another process."""
        return WorkerFailed, (self.outcome, self.detail, Place(self.phase, self.arm, self.cell), self.talk)

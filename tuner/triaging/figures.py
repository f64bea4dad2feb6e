"""Figures of then and now that somebody states of a server and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ATTENTION, WHOLE = "attention", "end-to-end"
AT_ONCE = ("concurrency", "batch")
RATES = ("_per_s", "tflops")  # the more the better, as the ends of a metric's name


@dataclass(frozen=True)
class Figure:
    """``change``: ln of the time now by that of then, infinite where somebody says no more than slower or faster; None = there is one
    ``value`` alone. ``noise``: what it may be off by, in ln. ``details``: what else is stated of
    it, by the key of the file."""

    component: str
    backend: str | None
    arm: str | None
    phase: str | None
    graph: str | None
    metric: str
    before: float | None
    after: float | None
    change: float | None
    value: float | None
    noise: float
    labels: tuple[tuple[str, str], ...]
    details: tuple[tuple[str, Any], ...]

    @property
    def slower(self) -> bool:
        return self.change is not None and self.change > 2 * self.noise

    @property
    def faster(self) -> bool:
        return self.change is not None and self.change < -2 * self.noise

    @property
    def still(self) -> bool:
        return self.change is not None and not self.slower and not self.faster

    @property
    def rate(self) -> bool:
        return self.metric.endswith(RATES)

    @property
    def now(self) -> float | None:
        return self.value if self.after is None else self.after

    @property
    def case(self) -> tuple[object, ...]:
        """What figures have to agree in to be compared."""
        return self.phase, self.metric, self.labels

    @property
    def at_once(self) -> int | None:
        """Requests, where it says so."""
        said = next((said for key, said in self.labels if key in AT_ONCE and said.isdecimal()), None)
        return None if said is None else int(said)

    def detail(self, name: str) -> Any:
        return dict(self.details).get(name)


@dataclass(frozen=True)
class Figures:
    figures: tuple[Figure, ...]
    boards: tuple[str, str] | None = None
    moved: tuple[str, ...] = ()

    @property
    def of_two_boards(self) -> bool:
        return self.boards is not None and self.boards[0] != self.boards[1]

"""A maintenance window: nothing is begun that would not end in it, by what was seen so far, else by the estimate.

Cells are never left out, since no pick may lose on a cell that nobody measured. What is given up, in this order: processes
beyond the fewest that decide, then arms, the least promising first; and where even that is too much for one window, nothing:
the run stays open, and the same command goes on with it in the next.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from backends.arm import Arm, Provider
from store.runs.run import Run
from store.scenario import Scenario
from tuner.budgeting.estimate import Timed, probe_seconds, round_seconds

# Fresh processes are the unit of evidence: with fewer an interval says little, and one odd process (a placement, an autotuned
# choice) decides.
FEWEST_PROCESSES = 4
SLACK = 2.0  # the estimate leaves builds out: processes on an H200 took 1.3 to 2.2 times as long


def fewest_processes(asked: int) -> int:
    """The fewest that a decision under a budget may rest on."""
    return min(FEWEST_PROCESSES, asked)


def expected_probe_s(scenario: Scenario, timed: Timed) -> float:
    return SLACK * probe_seconds(scenario, timed)


def expected_round_s(scenario: Scenario, timed: Timed) -> float:
    return SLACK * round_seconds(scenario, timed)


class Budget:
    """``limit_s`` from its construction on; None = as long as it takes."""

    def __init__(self, limit_s: float | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.limit_s = limit_s
        self._now = now
        self._end = math.inf if limit_s is None else now() + limit_s
        self._longest_s: dict[str, float] = {}

    @property
    def left_s(self) -> float:
        return self._end - self._now()

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Remember how long this piece of work takes, if it ends well."""
        began = self._now()
        yield
        self.saw(what, self._now() - began)

    def saw(self, what: str, seconds: float) -> None:
        self._longest_s[what] = max(seconds, self._longest_s.get(what, 0.0))

    def probe_s(self, scenario: Scenario, timed: Timed) -> float:
        """What the probe of one arm may take."""
        return max(self._longest_s.get("probe", 0.0), expected_probe_s(scenario, timed))

    def round_s(self, scenario: Scenario, timed: Timed) -> float:
        """What one process with all arms may take."""
        return self._longest_s.get("round", expected_round_s(scenario, timed))


def budget_for(run: Run, limit_s: float | None) -> Budget:
    """A budget that knows how long the processes took which ``run`` has already."""
    budget = Budget(limit_s)
    for measured in run.race:
        budget.saw("round", sum(seconds for _, seconds in measured.seconds))
    return budget


def in_order(arms: Sequence[Arm], incumbents: Collection[str], eager: Collection[str], asked: Sequence[str]) -> tuple[Arm, ...]:
    """The arms as they are worth measuring: the default first, then as ``asked`` for by backend, backends that the engine
    serves without graphs (which are not ranked against them) and kernel adapters beside the engine's own objects last."""

    def worth(arm: Arm) -> tuple[bool, int, bool, bool]:
        place = asked.index(arm.backend) if arm.backend in asked else len(asked)
        return arm.name not in incumbents, place, arm.backend in eager, arm.provider is not Provider.ENGINE

    return tuple(sorted(arms, key=worth))

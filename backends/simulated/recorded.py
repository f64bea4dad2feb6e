"""Times of a simulated GPU drawn from a recorded run: a process of it, and visits of that process, with replacement."""

from __future__ import annotations

import random
from statistics import median

from backends.arm import Arm
from backends.cell import Cell
from backends.driver import Refused
from backends.simulated.modelled import factor
from backends.simulated.world import RecordedCell, World


class NotRecorded(Refused):
    """A time is asked for that nobody measured; the controller refuses such a plan before it starts."""


class Recorded:
    """See `backends.simulated.bench.Times`. ``seed`` is the process's and chooses one of the recorded ones, so that what arms
    of one process have in common, and what one of them keeps through it, stays as it was."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._rng = random.Random(f"{world.seed}/{seed}")
        chosen = self._rng.choice(world.recorded) if world.recorded else ()
        self._cells = {(each.arm, each.cell): each for each in chosen}

    def call_us(self, arm: Arm, cell: Cell) -> float:
        return median(self._of(arm, cell).visit_us) * self._factor(arm, cell)

    def served_us(self, arm: Arm, cell: Cell) -> float:
        served_us = self._of(arm, cell).served_us
        return self.call_us(arm, cell) if served_us is None else served_us * self._factor(arm, cell)

    def visit_served_us(self, arm: Arm, cell: Cell) -> float | None:
        served_us = self._of(arm, cell).visit_served_us
        return None if served_us is None else served_us * self._factor(arm, cell)

    def metadata_us(self, arm: Arm, cell: Cell) -> tuple[float, float]:
        return self._of(arm, cell).metadata_us

    def visit_us(self, arm: Arm, cell: Cell, samples: int, at_s: float) -> tuple[float, ...]:
        """The median of the drawn visit for every sample: no more of it is recorded."""
        return (self._rng.choice(self._of(arm, cell).visit_us) * self._factor(arm, cell),) * samples

    def _factor(self, arm: Arm, cell: Cell) -> float:
        return factor(self._world, arm, cell.phase)

    def _of(self, arm: Arm, cell: Cell) -> RecordedCell:
        found = self._cells.get((arm.name, cell.name))
        if found is None:
            raise NotRecorded(f"not recorded: the recording holds no time of {arm.name} on {cell.name}")
        return found

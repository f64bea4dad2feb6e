"""All arms on one cell in one process: seated in random order, warmed up together, visited in palindromes, checked again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial

from backends.arm import Arm
from backends.blame import blaming
from backends.blocks import palindromes
from backends.cell import Cell
from backends.checks.checker import Checker
from backends.driver import CellData, Driver
from backends.measured import CellRound, Visit
from backends.phases import Phases
from backends.placement import Ballast
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.stand import PoolKey, Stand, pool_key
from backends.timing.disturbance import Lookout
from backends.timing.metadata import metadata_us
from backends.timing.warmup import warm_up


class CellRace:
    """One cell's arms, each in its seat. Use as a context; an arm's failure is raised as `ArmFailed`, the device's as `Disturbed`."""

    def __init__(self, cell: Cell, stand: Stand, timing: TimingSpec, rng: random.Random, phases: Phases, lookout: Lookout) -> None:
        self._cell = cell
        self._stand = stand
        self._timing = timing
        self._rng = rng
        self._phases = phases
        self._lookout = lookout
        self._seats: dict[str, Seat] = {}
        self._data: dict[PoolKey, CellData] = {}
        self._checkers: dict[PoolKey, Checker] = {}
        self._open = ExitStack()

    def __enter__(self) -> CellRace:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def run(self, drivers: Mapping[Arm, Driver]) -> CellRound:
        """Blocks, positions and the order of everything come from the process's generator."""
        self._seat(drivers)
        for name in self._seats:
            self._check(name)
        self._lookout.look()
        warm_visits = {name: partial(self._samples, "warmup", name) for name in self._seats}
        settled = warm_up(warm_visits, self._timing, self._stand.stage.device.type)
        visits = self._visits()
        metadata = tuple(self._metadata(name) for name in self._seats)
        for name in self._seats:
            self._check(name)
        launches = tuple((name, seat.timed.pace.launches) for name, seat in self._seats.items())
        first_call_s = tuple((name, seat.first_call_s) for name, seat in self._seats.items())
        return CellRound(self._cell.name, launches, visits, metadata, settled, first_call_s)

    def _seat(self, drivers: Mapping[Arm, Driver]) -> None:
        """Allocate and capture the arms in random order, with random padding between them."""
        ballast = Ballast(self._stand.stage.device, self._rng)
        self._open.callback(ballast.drop)
        for arm in self._rng.sample(list(drivers), len(drivers)):
            ballast.add()
            with blaming(arm.name, self._cell.name):
                seat = Seat(arm, drivers[arm], self._laid_out(arm), self._stand.slots(self._cell, arm), self._phases)
                self._open.callback(seat.close)
                seat.capture(self._timing)
            self._seats[arm.name] = seat

    def _laid_out(self, arm: Arm) -> CellData:
        """The cell in the arm's pool, shared with the other arms of that pool."""
        key = pool_key(arm)
        if key not in self._data:
            self._data[key] = self._stand.lay_out(self._cell, arm)
            soft_cap = self._stand.stage.model.logit_softcap
            self._checkers[key] = Checker(self._data[key], self._stand.slots(self._cell, arm) - 1, soft_cap)
        return self._data[key]

    def _check(self, name: str) -> None:
        """Run just as it is timed, against the reference: before the first sample and after the last."""
        seat = self._seats[name]
        with self._phases.of("check", name, self._cell.name), blaming(name, self._cell.name):
            self._checkers[pool_key(seat.arm)].check(seat.timed.shot, seat.timed.written)

    def _visits(self) -> tuple[Visit, ...]:
        visits = []
        for number, order in enumerate(palindromes(list(self._seats), self._timing.blocks, self._rng)):
            self._lookout.look()
            detail = f"block {number + 1} of {self._timing.blocks}"
            visits += [Visit(number, position, name, self._plausible_samples(name, detail)) for position, name in enumerate(order)]
        self._lookout.look()
        return tuple(visits)

    def _plausible_samples(self, name: str, detail: str) -> tuple[float, ...]:
        samples = self._samples("timing", name, detail)
        with blaming(name, self._cell.name):
            self._stand.require_plausible(self._cell, self._seats[name].arm, samples)
        return samples

    def _samples(self, phase: str, name: str, detail: str | None = None) -> tuple[float, ...]:
        """One visit. Its arm is said first: when the process dies in it, the controller knows whose fault it was."""
        with self._phases.of(phase, name, self._cell.name, detail), blaming(name, self._cell.name):
            return self._seats[name].timed.visit()

    def _metadata(self, name: str) -> tuple[str, float, float]:
        seat = self._seats[name]
        with self._phases.of("metadata", name, self._cell.name), blaming(name, self._cell.name):
            return (name, *metadata_us(seat.call, self._stand.stage.device))

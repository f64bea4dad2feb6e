"""All arms on one cell in one process: seated in random order, warmed up together, visited in palindromes, checked again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from backends.arm import Arm
from backends.bench import Checking
from backends.blame import blaming
from backends.blocks import palindromes
from backends.cell import Cell
from backends.deviation import Deviation, known_on
from backends.driver import CellData, Driver
from backends.measured import CellRound, Visit, code_id
from backends.phases import Phases
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.stand import PoolKey, Stand, pool_key
from backends.timing.lookout import Lookout
from backends.timing.metadata import metadata_us
from backends.timing.sampled import PLAIN, Manner, Sampled
from backends.timing.undisturbed import COOL_S, undisturbed
from backends.timing.warmup import warm_up
from backends.turns import Baton

AGAIN_S = 0.25


class CellRace:
    """One cell's arms, each in its seat. Use as a context; an arm's failure is raised as `ArmFailed`, the device's as `Disturbed`."""

    def __init__(
        self, cell: Cell, stand: Stand, timing: TimingSpec, rng: random.Random, phases: Phases, lookout: Lookout, baton: Baton
    ) -> None:
        self._cell = cell
        self._stand = stand
        self._bench = stand.bench
        self._timing = timing
        self._rng = rng
        self._phases = phases
        self._lookout = lookout
        self._baton = baton
        self._seats: dict[str, Seat] = {}
        self._data: dict[PoolKey, CellData] = {}
        self._checkers: dict[tuple[PoolKey, Deviation | None], Checking] = {}
        self._voided: list[str] = []
        self._open = ExitStack()

    def __enter__(self) -> CellRace:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def run(self, drivers: Mapping[Arm, Driver], manner: Manner = PLAIN) -> CellRound:
        """Blocks, positions and the order of everything come from the process's generator. ``manner`` as for `Seat.capture`."""
        self._seat(drivers, manner)
        for name in self._seats:
            self._check(name)
        self._lookout.look()
        warm_visits = {name: partial(self._sampled, "warmup", name) for name in self._seats}
        settled = warm_up(warm_visits, self._timing, self._bench.type, self._bench.now)
        self._baton.hand_over()
        self._warm_again()
        visits = self._visits()
        conditions = self._lookout.conditions()
        metadata = tuple(self._metadata(name) for name in self._seats)
        for name in self._seats:
            self._check(name)
        cell_round = replace(self._seated(), visits=visits, metadata_us=metadata, settled=settled, conditions=conditions)
        return replace(cell_round, code_ids=self._code_ids())  # last: it may record what is never recorded

    def _warm_again(self) -> None:
        """Beside another process, once the device is back from its warm-up. On an H200 a call took up to 8 % longer in a process that
        had stood still for seconds, and nearly all that pairs of processes scattered by was in their first visits."""
        began = self._bench.now()
        while self._baton.shared and self._bench.now() - began < AGAIN_S:
            for name in self._seats:
                self._sampled("warmup", name)

    def _seated(self) -> CellRound:
        """What there is to tell without the visits."""
        timed = {name: seat.timed for name, seat in self._seats.items()}
        return CellRound(
            cell=self._cell.name,
            launches=tuple((name, each.pace.launches) for name, each in timed.items()),
            visits=(),
            metadata_us=(),
            settled=False,
            first_call_s=tuple((name, seat.first_call_s) for name, seat in self._seats.items()),
            spacer_us=next((each.spacer_us for each in timed.values() if each.spacer_us is not None), None),
            voided=tuple(self._voided),
        )

    def _seat(self, drivers: Mapping[Arm, Driver], manner: Manner) -> None:
        """Allocate and capture the arms in random order, with random padding between them. What one of them needs to be slowed by its
        share, the others launch too: a longer sample has less of what surrounds it."""
        manner = replace(manner, fewest=max(manner.least, *(Manner(slowed=arm.slowed).least for arm in drivers)))
        ballast = self._bench.ballast(self._rng)
        self._open.callback(ballast.drop)
        for arm in self._rng.sample(list(drivers), len(drivers)):
            ballast.add()
            with blaming(arm.name, self._cell.name):
                seat = Seat(arm, drivers[arm], self._laid_out(arm), self._stand.slots(self._cell, arm), self._phases, self._bench)
                self._open.callback(seat.close)
                seat.capture(self._timing, manner)
            self._seats[arm.name] = seat

    def _laid_out(self, arm: Arm) -> CellData:
        """The cell in the arm's pool, shared with the other arms of that pool."""
        key = pool_key(arm)
        if key not in self._data:
            self._data[key] = self._stand.lay_out(self._cell, arm)
        return self._data[key]

    def _checker(self, arm: Arm) -> Checking:
        """Shared with the other arms of that pool of which the same is declared."""
        key = pool_key(arm), known_on(arm.deviations, self._cell)
        if key not in self._checkers:
            slot, soft_cap = self._stand.slots(self._cell, arm) - 1, self._stand.stage.model.logit_softcap
            self._checkers[key] = self._bench.checker(self._laid_out(arm), slot, soft_cap, key[1])
        return self._checkers[key]

    def _check(self, name: str) -> None:
        """Run just as it is timed, against the reference: before the first sample and after the last."""
        seat = self._seats[name]
        with self._phases.of("check", name, self._cell.name), blaming(name, self._cell.name):
            self._checker(seat.arm).check(seat.timed.shot, seat.timed.written)

    def _visits(self) -> tuple[Visit, ...]:
        self._lookout.look()  # what slowed the device before is no block's doing
        self._lookout.conditions()
        orders = palindromes(list(self._seats), self._timing.blocks, self._rng)
        return tuple(visit for number, order in enumerate(orders) for visit in self._block(number, order))

    def _block(self, number: int, order: Sequence[str]) -> list[Visit]:
        """Timed again where the device was not at its usual pace; beside another process, whose block it is too, lost instead. Raises
        `Disturbed` when it never is."""
        timed = partial(self._timed, number, order, f"block {number + 1} of {self._timing.blocks}")
        if not self._baton.shared:
            return undisturbed(timed, self._bench, self._lookout, self._voided)
        void, visits = timed()
        if void is None:
            return visits
        self._voided.append(void)
        self._bench.rest(COOL_S)
        self._lookout.look()
        return []

    def _timed(self, number: int, order: Sequence[str], detail: str) -> tuple[str | None, list[Visit]]:
        """A block as it came, and why it is void. The device is handed over after either half."""
        visits, void = [], None
        for position, name in enumerate(order):
            visits.append(self._visit(number, position, name, detail))
            if position + 1 in (len(order) // 2, len(order)):
                void = self._lookout.look() or void
                self._baton.hand_over()
        return void, visits

    def _visit(self, block: int, position: int, name: str, detail: str) -> Visit:
        with self._lookout.during_visit():
            seen = self._sampled("timing", name, detail)
        with blaming(name, self._cell.name):
            self._stand.require_plausible(self._cell, self._seats[name].arm, seen.us)
        return Visit(block, position, name, seen.us, seen.served_us, seen.sm_clock_mhz, seen.row_us)

    def _sampled(self, phase: str, name: str, detail: str | None = None) -> Sampled:
        """One visit. Its arm is said first: when the process dies in it, the controller knows whose fault it was."""
        with self._phases.of(phase, name, self._cell.name, detail), blaming(name, self._cell.name):
            return self._seats[name].timed.visit()

    def _code_ids(self) -> tuple[tuple[str, str], ...]:
        with self._phases.of("identify", cell=self._cell.name):
            known = ((name, code_id(self._bench.launches(seat.call, seat.timed))) for name, seat in self._seats.items())
            return tuple((name, code) for name, code in known if code)

    def _metadata(self, name: str) -> tuple[str, float, float]:
        seat = self._seats[name]
        with self._phases.of("metadata", name, self._cell.name), blaming(name, self._cell.name):
            return (name, *metadata_us(seat.call, self._bench))

"""Many settings on few cells in one process, each beside the same baseline: which of them are worth fresh processes.

Nothing here decides: what is left after it is probed and raced like any other arm. A setting is opened when it is first asked for and let
go when another one is, so that only its own graphs and workspaces lie beside the baseline's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, median

from backends.arm import Arm
from backends.bench import Bench, Checking, bench_for
from backends.blame import blaming
from backends.cell import Cell
from backends.cell_round import AGAIN_S
from backends.company import await_others
from backends.deviation import Deviation, known_on
from backends.driver import CellData, Driver
from backends.phases import Phases, Say
from backends.seat import Seat
from backends.spec import StageSpec, TimingSpec
from backends.stand import PoolKey, Stand, open_stand, pool_key
from backends.timing.lookout import Lookout
from backends.timing.sampled import Sampled
from backends.timing.undisturbed import undisturbed
from backends.timing.warmup import warm_up

SEED = 0  # of inputs and placement: all settings find the same


@dataclass(frozen=True)
class Step:
    """One repetition: (cell, us of the setting, us of the baseline) a served call, and the seconds it took, builds included."""

    us: tuple[tuple[str, float, float], ...]
    seconds: float


def run(
    baselines: Mapping[str, Arm],
    arms: Sequence[Arm],
    cells: Sequence[Cell],
    stage: StageSpec,
    timing: TimingSpec,
    say: Say,
    asked: Callable[[], Mapping[str, str] | None],
) -> Iterator[Step]:
    """A `Step` for each of ``asked``, which names an arm and a phase, until it gives None. ``baselines``: an arm for each phase.

    Raises `ArmFailed` when the arm fails, `Disturbed` when the device is not at its usual pace for long: the process is thrown away then.
    """
    bench = bench_for(stage, SEED)
    phases = Phases(say, bench.now)
    await_others(bench, phases)
    with phases.of("import"):
        stand, lookout = open_stand(bench, stage, (*baselines.values(), *arms), cells, SEED), bench.lookout()
    with ExitStack() as stack, bench.working():
        stack.callback(lookout.close)
        floor = _Floor(bench, stand, timing, phases, lookout)
        held = {arm: stack.enter_context(_Held(floor, arm)) for arm in dict.fromkeys(baselines.values())}
        held[baselines[cells[0].phase.value]].warm(cells[0])
        yield from _steps(floor, {phase: held[arm] for phase, arm in baselines.items()}, arms, cells, asked)


@dataclass(frozen=True)
class _Floor:
    bench: Bench
    stand: Stand
    timing: TimingSpec
    phases: Phases
    lookout: Lookout
    laid: dict[tuple[PoolKey, str], CellData] = field(default_factory=dict)
    checkers: dict[tuple[PoolKey, str, Deviation | None], Checking] = field(default_factory=dict)

    def lay_out(self, arm: Arm, cell: Cell) -> tuple[CellData, Checking]:
        """The cell in the arm's pool and the reference for it, once for all settings of that pool of which the same is declared."""
        place, deviation = (pool_key(arm), cell.name), known_on(arm.deviations, cell)
        if place not in self.laid:
            self.laid[place] = self.stand.lay_out(cell, arm)
        data, key = self.laid[place], (*place, deviation)
        if key not in self.checkers:
            slot, soft_cap = self.stand.slots(cell, arm) - 1, self.stand.stage.model.logit_softcap
            self.checkers[key] = self.bench.checker(data, slot, soft_cap, deviation)
        return data, self.checkers[key]


def _steps(
    floor: _Floor, baselines: Mapping[str, _Held], arms: Sequence[Arm], cells: Sequence[Cell], asked: Callable[[], Mapping[str, str] | None]
) -> Iterator[Step]:
    by_name, held = {arm.name: arm for arm in arms}, None
    with ExitStack() as current:
        while (wanted := asked()) is not None:
            began, phase = floor.bench.now(), wanted["phase"]
            if held is None or held.arm.name != wanted["arm"]:
                current.close()
                held = current.enter_context(_Held(floor, by_name[wanted["arm"]]))
            mine = [cell for cell in cells if cell.phase.value == phase]
            us = tuple((cell.name, *_beside(floor, held, baselines[phase], cell)) for cell in mine)
            yield Step(us, floor.bench.now() - began)


def _beside(floor: _Floor, held: _Held, baseline: _Held, cell: Cell) -> tuple[float, float]:
    """Baseline, setting, setting, baseline: what drifts evenly is the same for both."""
    order = (baseline, held, held, baseline)
    if not all(each.is_seated(cell) for each in (baseline, held)):
        held.warm_beside(baseline, cell)  # built before anything is timed: the clock fell meanwhile
    floor.lookout.look()

    def timed() -> tuple[str | None, list[float]]:
        found = [each.visit(cell) for each in order]
        return floor.lookout.look(), found

    first, second, third, last = undisturbed(timed, floor.bench, floor.lookout, [])
    return fmean((second, third)), fmean((first, last))


class _Held:
    """An arm's driver and its seats on the cells that were asked for so far. A context."""

    def __init__(self, floor: _Floor, arm: Arm) -> None:
        self.arm = arm
        self._floor = floor
        self._open = ExitStack()
        self._seats: dict[str, Seat] = {}
        self._driver: Driver | None = None

    def __enter__(self) -> _Held:
        with self._floor.phases.of("import", self.arm.name), blaming(self.arm.name):
            self._driver = self._floor.stand.open_driver(self.arm)
        self._open.callback(self._driver.close)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()
        self._driver = None
        self._seats.clear()
        self._floor.bench.release()

    def is_seated(self, cell: Cell) -> bool:
        return cell.name in self._seats

    def warm_beside(self, other: _Held, cell: Cell) -> None:
        """As `backends.cell_round` does after a pause."""
        pair, now = (other, self), self._floor.bench.now
        for each in pair:
            each.seat(cell)
        began = now()
        while now() - began < AGAIN_S:
            for each in pair:
                each._sampled(cell, "warmup")

    def seat(self, cell: Cell) -> Seat:
        """Captured, and right where it was checked once."""
        if cell.name not in self._seats:
            floor = self._floor
            assert self._driver is not None
            with blaming(self.arm.name, cell.name):
                data, checker = floor.lay_out(self.arm, cell)
                seat = Seat(self.arm, self._driver, data, floor.stand.slots(cell, self.arm), floor.phases, floor.bench)
                self._open.callback(seat.close)
                timed = seat.capture(floor.timing)
                with floor.phases.of("check", self.arm.name, cell.name):
                    checker.check(timed.shot, timed.written)
            self._seats[cell.name] = seat
        return self._seats[cell.name]

    def visit(self, cell: Cell) -> float:
        """Microseconds of one call as it is served."""
        found = self._sampled(cell, "timing")
        with blaming(self.arm.name, cell.name):
            self._floor.stand.require_plausible(cell, self.arm, found.us)
        return median(found.us) if found.served_us is None else found.served_us

    def warm(self, cell: Cell) -> None:
        """Until the board's clock stands still, as far as one cell shows it."""
        self.seat(cell)
        bench = self._floor.bench
        warm_up({self.arm.name: partial(self._sampled, cell, "warmup")}, self._floor.timing, bench.type, bench.now)

    def _sampled(self, cell: Cell, phase: str) -> Sampled:
        floor, seat = self._floor, self.seat(cell)
        with floor.phases.of(phase, self.arm.name, cell.name), blaming(self.arm.name, cell.name), floor.lookout.during_visit():
            return seat.timed.visit()

"""What to measure next: every arm that may still be the best, then the pick once more, then nothing. A pure function of what is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import count

from backends.arm import Arm
from backends.cell import Phase
from store.decision import Pair
from store.runs.run import Run
from tuner.arithmetic.looks import CONFIRMING, looks_up_to
from tuner.deciding.ceiling import too_low
from tuner.deciding.confirmation import fresh_contest
from tuner.deciding.standing import Standing, standing_of
from tuner.new_run import default_arms
from tuner.racing.sieve import Entrant, entrants
from tuner.verdicts.stored import FEWEST

Seats = set[tuple[Phase, str]]  # of an arm in a phase


@dataclass(frozen=True)
class NextRound:
    """One fresh process with the arms of ``field``, each on its cells. ``confirms``: after the choice."""

    index: int
    field: tuple[Entrant, ...]
    confirms: bool

    @property
    def arms(self) -> tuple[Arm, ...]:
        return tuple(entrant.arm for entrant in self.field)

    def on(self, cells: Collection[str]) -> NextRound | None:
        """Without other cells, and arms that have none then; None where nothing is left."""
        field = tuple(Entrant(each.arm, each.cells & set(cells)) for each in self.field if not each.cells.isdisjoint(cells))
        return NextRound(self.index, field, self.confirms) if field else None


def next_round(run: Run, racing: bool = True, everyone: bool = False) -> NextRound | None:
    """None: nothing is left to measure. ``racing`` False: there is time for no more than the pick. ``everyone``: no arm leaves
    and no choice is measured again, since all of them are compared with each other."""
    field = entrants(run.arms, run.cells, run.trials, default_arms(run.default, run.arms))
    if not field or (not run.race and not everyone and (not racing or too_low(run))):
        return None
    index = next(number for number in count() if all(measured.index != number for measured in run.rounds))
    if everyone:
        return NextRound(index, field, False) if racing and len(run.race) < run.scenario.measure.processes else None
    if not run.race:
        return NextRound(index, field, False)
    standing = standing_of(run)
    if racing and not run.confirmation and not standing.course.over:
        return NextRound(index, _still_racing(standing, field), False)
    return _confirming(standing, field, index)


def _confirming(standing: Standing, field: tuple[Entrant, ...], index: int) -> NextRound | None:
    pick, default = standing.choice.pick, standing.contest.default
    if pick is None or default is None or pick == default or fresh_contest(standing, pick) is not None:
        return None
    return NextRound(index, _seated(standing.run, field, _seats([pick, default])), True)


def foreseen(run: Run, coming: NextRound, everyone: bool = False) -> tuple[tuple[Arm, ...], ...]:
    """The arms of each process after ``coming``: up to the next look those that race now, some of which may leave; after it one process
    with the default, which is in every round and every confirmation, unless that would be the confirmation of nothing. A default alone
    has the fewest."""
    if coming.confirms:
        return (coming.arms,) * (CONFIRMING - len(run.confirmation) - 1)
    most, processes = run.scenario.measure.processes, len(run.race) + 1
    if everyone:
        return (coming.arms,) * (most - processes)
    names = set(default_arms(run.default, run.arms).values())
    default = tuple(arm for arm in coming.arms if arm.name in names)
    if default == coming.arms:
        return (default,) * (min(FEWEST, most) - processes)
    rounds = (coming.arms,) * (next((look for look in looks_up_to(most) if look >= processes), processes) - processes)
    return (*rounds, default) if default and (processes < most or _may_switch(run)) else rounds


def _may_switch(run: Run) -> bool:
    """Whether by now another pair than the default leads."""
    if not run.race:
        return False
    standing = standing_of(run)
    return standing.choice.leader != standing.contest.default


def _still_racing(standing: Standing, field: tuple[Entrant, ...]) -> tuple[Entrant, ...]:
    """Without the seats that no pair needs any more; the default keeps its own."""
    default = standing.contest.default
    gone = {*standing.course.left, *standing.course.out}
    staying = _seats([pair for pair in standing.ranked if pair not in gone] + ([default] if default else []))
    return _seated(standing.run, field, staying, _seats(gone))


def _seats(pairs: Iterable[Pair]) -> Seats:
    return {(phase, pair.of(phase)) for pair in pairs for phase in Phase}


def _seated(run: Run, field: Iterable[Entrant], staying: Seats, leaving: Seats | None = None) -> tuple[Entrant, ...]:
    """The entrants on the cells of the phases they have a seat in. Without ``leaving`` only those ``staying`` have one."""
    phases = {weighted.cell.name: weighted.cell.phase for weighted in run.cells}

    def has_seat(arm: str, cell: str) -> bool:
        seat = (phases[cell], arm)
        return seat in staying or (leaving is not None and seat not in leaving)

    seated = (Entrant(each.arm, frozenset(cell for cell in each.cells if has_seat(each.arm.name, cell))) for each in field)
    return tuple(each for each in seated if each.cells)

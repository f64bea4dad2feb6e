"""Which rounds may be measured at the same time on boards of one type, so that the race goes as it would on one board. Pure.

A round of the future is begun with the field of the present one. What was measured before its turn counts only then, and with no more than
the field that it has then: arms that left meanwhile are taken out of it. So who leaves, when the race ends and what is stored follows from
the same rules and the same rounds however many boards there are.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice
from typing import Any, TypeVar

from backends.measured import CellRound, Round
from store.runs.run import Run
from tuner.arithmetic.looks import CONFIRMING, looks_up_to
from tuner.racing.next_round import NextRound

Seat = tuple[str, str]  # arm, cell
Entry = TypeVar("Entry", bound=tuple[Any, ...])  # that begins with an arm


def beside(run: Run, coming: NextRound, everyone: bool = False) -> tuple[NextRound, ...]:
    """The rounds that may be begun before ``coming``, which comes next in ``run``, is there: those up to the next look, at which the race
    may end, or the pick's last one. With ``everyone`` all that are to come."""
    done, most = len(run.race) + 1, run.scenario.measure.processes
    if coming.confirms:
        owed = CONFIRMING - len(run.confirmation) - 1
    else:
        owed = (most if everyone else next(look for look in looks_up_to(most) if look >= done)) - done
    taken = {measured.index for measured in run.rounds} | {coming.index}
    free = (number for number in count() if number not in taken)
    return tuple(replace(coming, index=number) for number in islice(free, max(0, owed)))


def at_its_turn(measured: Round, coming: NextRound) -> Round | None:
    """A round that was ``measured`` before its turn, as ``coming`` asks for it; None where it was begun for less or for another purpose."""
    seats = {(entrant.arm.name, cell) for entrant in coming.field for cell in entrant.cells}
    timed = {(visit.arm, cell.cell) for cell in measured.cells for visit in cell.visits}
    if measured.index != coming.index or measured.confirms != coming.confirms or not seats <= timed:
        return None
    wanted = {cell for _, cell in seats}
    return replace(measured, cells=tuple(_of(cell, seats) for cell in measured.cells if cell.cell in wanted))


def _of(cell: CellRound, seats: set[Seat]) -> CellRound:
    """Of those that have a seat on it, in the order they were visited in."""
    arms = {arm for arm, name in seats if name == cell.cell}
    return replace(
        cell,
        launches=_theirs(cell.launches, arms),
        visits=tuple(visit for visit in cell.visits if visit.arm in arms),
        metadata_us=_theirs(cell.metadata_us, arms),
        first_call_s=_theirs(cell.first_call_s, arms),
        code_ids=_theirs(cell.code_ids, arms),
    )


def _theirs(entries: tuple[Entry, ...], arms: set[str]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry[0] in arms)

"""On which cells two pairs of arms are held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

from backends.cell import Phase
from store.decision import Pair
from store.scenario import WeightedCell
from tuner.deciding.contest import Contest
from tuner.deciding.table import Table

Ground = tuple[WeightedCell, ...]
Grounds = Mapping[tuple[Pair, Pair], tuple[Ground, ...]]


def grounds_of(contest: Contest, pairs: Iterable[Pair]) -> Grounds:
    """Of every two that can be compared."""
    found = {two: grounds(contest, *two) for two in permutations(pairs, 2)}
    return {two: each for two, each in found.items() if each}


def grounds(contest: Contest, one: Pair, other: Pair) -> tuple[Ground, ...]:
    """The counted cells of each phase in which they differ: who is slower on all of these is slower, whatever the phases weigh.

    Page size and KV dtype are shared by the phases, so that arms of different ones cannot be exchanged: such pairs are compared whole.
    """
    if setting(contest.table, one) != setting(contest.table, other):
        return (contest.cells,)
    phases = apart(contest.table, one, other)
    found = (tuple(weighted for weighted in contest.cells if weighted.cell.phase is phase) for phase in phases)
    return tuple(ground for ground in found if ground)


def apart(table: Table, one: Pair, other: Pair) -> tuple[Phase, ...]:
    """The phases in which a server with the one does not do just what it does with the other."""
    whole = setting(table, one) != setting(table, other)
    return tuple(phase for phase in Phase if whole or one.of(phase) != other.of(phase))


def setting(table: Table, pair: Pair) -> tuple[int, str]:
    arm = table.arms[pair.decode]
    return arm.page_size, arm.kv_dtype


def most_comparisons(found: Grounds) -> int:
    """How many comparisons share the error that a pair may leave by, for the pair that has the most. On one phase's cells two arms
    are compared once, whatever their partners."""
    sides: dict[Pair, set[tuple[Ground, Pair | str]]] = {}
    for (pair, rival), each in found.items():
        sides.setdefault(pair, set()).update((ground, _side(rival, ground)) for ground in each)
    return max(map(len, sides.values()), default=0)


def _side(rival: Pair, ground: Ground) -> Pair | str:
    """Who is on this ground: an arm where it is of one phase."""
    phases = {weighted.cell.phase for weighted in ground}
    return rival.of(*phases) if len(phases) == 1 else rival

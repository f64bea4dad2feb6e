"""How a race went: who left it after which process, who is beaten by now, and whether another process would change the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

from backends.cell import Phase
from store.decision import Pair
from tuner.deciding.contest import Contest, counted_arms
from tuner.deciding.scores import step_gain
from tuner.deciding.ties import is_tied
from tuner.racing.elimination import Beats, Defeat, at_a_look, defeats, while_racing
from tuner.racing.grounds import Grounds, apart, grounds_of, most_comparisons
from tuner.racing.rights import is_open, may_be_picked
from tuner.verdicts.stored import FEWEST


@dataclass(frozen=True)
class Course:
    """``left``: pairs that some process did not time any more, each with its defeat (None = by no rule of the race). ``out``: those
    of the last process that need not be in another one. ``beaten``: those of it that are surely not the best, were the race to end
    here. ``over``: whether it should, at a look that settles it, or because nobody but the default is left."""

    left: Mapping[Pair, Defeat | None]
    out: Mapping[Pair, Defeat]
    beaten: Mapping[Pair, Defeat]
    over: bool

    def in_it(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Those that could be the best."""
        return tuple(pair for pair in pairs if pair not in self.left and pair not in self.beaten)


def course_of(contest: Contest, entered: Collection[Pair], barred: Collection[Pair] = ()) -> Course:
    """Of the processes in ``contest``; ``entered`` are the pairs that its first one timed, ``barred`` those of them that may not be
    picked whatever is measured."""
    last, grounds = len(contest.table.processes), grounds_of(contest, entered)
    field = _Field({pair: contest.table.from_the_start(pair) for pair in entered}, frozenset(barred), grounds, most_comparisons(grounds))
    fallen = {after: field.fallen(up_to(contest, after)) for after in {last, *field.timed.values()}}
    left = {pair: fallen[after].get(pair) for pair, after in field.timed.items() if after < last}
    beaten = fallen[last] if last in contest.looks else {**field.defeats(contest, at_a_look(contest, field.rivals)), **fallen[last]}
    present = field.present(contest)
    remaining = [pair for pair in present if pair not in beaten and pair not in field.barred and is_open(contest, pair)]
    # Further processes would compare a default with nobody. Later screens of its stored times need `FEWEST` of them.
    racing = [pair for pair in present if pair not in fallen[last]]
    alone = last >= FEWEST and bool(racing) and all(is_default(contest, pair) for pair in racing)
    over = alone or last >= contest.looks[-1] or (last in contest.looks and settled(contest, remaining))
    return Course(left, fallen[last], beaten, over)


@dataclass(frozen=True)
class _Field:
    """``timed``: how many processes, from the first on, each pair was in."""

    timed: Mapping[Pair, int]
    barred: frozenset[Pair]
    grounds: Grounds
    rivals: int

    def present(self, contest: Contest) -> list[Pair]:
        return [pair for pair, processes in self.timed.items() if processes >= len(contest.table.processes)]

    def fallen(self, contest: Contest) -> dict[Pair, Defeat]:
        """Who leaves after the processes of ``contest``."""
        beats = while_racing(contest, self.rivals)
        return self.defeats(contest, beats) if beats else {}

    def defeats(self, contest: Contest, beats: Beats) -> dict[Pair, Defeat]:
        """A rival that may not be picked would clear the field for nobody."""

        @cache
        def loses_nothing(pair: Pair, phase: Phase) -> bool:
            return may_be_picked(contest, pair, phase)

        def may_beat(rival: Pair, pair: Pair) -> bool:
            return rival not in self.barred and all(loses_nothing(rival, phase) for phase in apart(contest.table, rival, pair))

        return defeats(contest, self.present(contest), may_beat, self.grounds, beats)


def settled(contest: Contest, remaining: Collection[Pair]) -> bool:
    """One pair is left, or all are tied, or none of them could win enough over the default."""
    if len({counted_arms(pair, contest.cells) for pair in remaining}) <= 1:
        return True
    return _nothing_to_gain(contest, remaining) or all(is_tied(contest, *two) for two in combinations(remaining, 2))


def is_default(contest: Contest, pair: Pair) -> bool:
    """Whether a server with ``pair`` does just what it does by default, on the cells that count."""
    return contest.default is not None and counted_arms(pair, contest.cells) == counted_arms(contest.default, contest.cells)


def up_to(contest: Contest, processes: int) -> Contest:
    """As it was after so many processes."""
    return replace(contest, table=replace(contest.table, processes=contest.table.processes[:processes]))


def _nothing_to_gain(contest: Contest, remaining: Collection[Pair]) -> bool:
    if contest.default is None:
        return False
    gains = [step_gain(contest, pair) for pair in remaining if pair != contest.default]
    return all(gain is not None and gain[1] < contest.rules.min_gain for gain in gains)

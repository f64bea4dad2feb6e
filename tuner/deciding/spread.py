"""How far boards of one type disagree on a comparison: a level of the scatter beside processes and what is inside one. Pure.

d = ln(new/old) of a process varies as d = mu + B + A + e: B one draw a board, A one a process, e what its blocks tell. One-way analysis
of variance with unequal groups, by the method of moments: Searle, Casella, McCulloch, Variance Components (1992), section 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from reports import boards
from store.decision import BoardSpread, OnBoard, Pair
from store.runs.run import Run
from tuner.arithmetic.objective import attention_error
from tuner.deciding.contest import Contest
from tuner.deciding.scores import in_processes
from tuner.deciding.slowest import by_board, slowest
from tuner.workload.ranks import world_size


def spread_of(contest: Contest, pick: Pair | None, compared: Iterable[Pair]) -> BoardSpread | None:
    """Of the pick against the default; where that stays, of the one of those ``compared`` with it on which boards disagree most. None on
    one board, or where nothing was compared."""
    default = contest.default
    if default is None or len(contest.table.boards) < 2:
        return None
    rivals = list(compared) if pick in (None, default) else [pick]
    found = [spread for pair in rivals if pair is not None and (spread := _spread(contest, pair, default))]
    return max(found, key=lambda spread: spread.between_boards, default=None)


def _spread(contest: Contest, new: Pair, old: Pair) -> BoardSpread | None:
    found = in_processes(contest.table, new, old, contest.cells)
    groups = {board: [each.difference for each in there] for board, there in by_board(found).items()}
    if len(groups) < 2:
        return None
    between_boards, between_processes = components(list(groups.values()))
    return BoardSpread(
        new,
        old,
        boards=tuple(OnBoard(board, len(there), math.exp(fmean(there))) for board, there in groups.items()),
        between_boards=between_boards,
        between_processes=between_processes,
        in_a_process=_in_a_process(contest, new, old),
        decides=slowest(found) if contest.waits else None,
    )


def said_of_boards(run: Run, spread: BoardSpread | None) -> Iterator[str]:
    """How far they agree, and by which of them was decided; that a server of several ranks was seen on one board alone."""
    ranks = world_size(run.scenario.engine)
    if spread is not None:
        yield boards.spread(spread)
        if decides := boards.decides(spread, ranks):
            yield decides
    elif ranks > 1 and len(run.boards) == 1:
        yield f"seen on one board only, and {ranks} ranks wait for the slowest of theirs"


def components(groups: Sequence[Sequence[float]]) -> tuple[float, float | None]:
    """Standard deviations between ``groups``, of which there are two at least, and inside one; None where none has two values, and what is
    inside stands in the first."""
    sizes = [len(group) for group in groups]
    count, centre = sum(sizes), fmean(value for group in groups for value in group)
    told = count > len(groups)
    within = sum((value - fmean(group)) ** 2 for group in groups for value in group) / (count - len(groups)) if told else 0.0
    among = sum(len(group) * (fmean(group) - centre) ** 2 for group in groups) / (len(groups) - 1)
    usual = (count - sum(size**2 for size in sizes) / count) / (len(groups) - 1)
    return math.sqrt(max(0.0, among - within) / usual), math.sqrt(within) if told else None


def _in_a_process(contest: Contest, new: Pair, old: Pair) -> float:
    errors = [attention_error(process, new, old, contest.cells) for process in contest.table.shared([new, old], contest.cells)]
    return math.sqrt(fmean(error**2 for error in errors))

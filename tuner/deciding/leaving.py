"""Why a pair was not in all of the processes: what beat it, and when."""

from __future__ import annotations

import math

from backends.cell import Phase
from reports import numbers, wording
from store.decision import Pair
from tuner.deciding.contest import Contest
from tuner.racing.elimination import Defeat


def leaving(contest: Contest, defeat: Defeat | None) -> str | None:
    """ "left the race after 2 processes: in decode a takes 1.95 times the time of b"."""
    if defeat is None:
        return None
    phases = tuple(dict.fromkeys(weighted.cell.phase for weighted in defeat.cells))
    where = f"in {phases[0].value} " if len(phases) == 1 and len(contest.table.cells_of(phases[0])) < len(contest.table.cells) else ""
    took = f"{where}{_arms(defeat.pair, phases)} takes {numbers.ratio(math.exp(defeat.mean))} times the time of {_arms(defeat.by, phases)}"
    return f"left the race after {wording.count(defeat.processes, 'process', 'processes')}: {took}"


def _arms(pair: Pair, phases: tuple[Phase, ...]) -> str:
    return pair.of(phases[0]) if len(phases) == 1 else wording.pair(pair)

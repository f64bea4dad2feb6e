"""What keeping to a demand of the scenario costs: the speed of a pair that was measured and that it keeps out."""

from __future__ import annotations

from reports import numbers, wording
from reports.choice import step_change
from store.decision import Interval, Pair, PairScore
from tuner.deciding.bars import kept_out
from tuner.deciding.scores import ratio
from tuner.deciding.standing import Standing


def given_up(standing: Standing, pick: Pair, passed: PairScore | None) -> str | None:
    """The fastest pair that a demand keeps out, held against ``pick``. None where none was measured beside it, and where it is the
    one that ``passed`` is told of already."""
    kept = [score for score in standing.scores if score.pair in standing.ranked and kept_out(standing.run, score.pair)]
    best = min(kept, key=lambda score: score.objective_ms, default=None)
    if best is None or best == passed:
        return None
    found = ratio(standing.contest, best.pair, pick)
    return f"{kept_out(standing.run, best.pair)}; {_cost(standing, best, pick, found)}"


def _cost(standing: Standing, best: PairScore, pick: Pair, found: Interval | None) -> str:
    if found is None:
        return f"what {wording.pair(best.pair)} would win is not known from one process"
    times = f"{wording.pair(best.pair)} takes {numbers.interval(found)} times the attention time of {wording.pair(pick)}"
    if found.high >= 1:
        return f"nothing is surely given up for it: {times}"
    change = step_change(best) if pick == standing.contest.default else ""
    return f"given up for it: {times}" + (f", a step {change}, predicted" if change else "")

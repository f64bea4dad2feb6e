"""Why nothing is pinned, in numbers."""

from __future__ import annotations

from collections.abc import Iterable

from reports import numbers, wording
from store.decision import Pair, PairScore
from tuner.deciding.contest import Contest
from tuner.deciding.scores import objective_ms
from tuner.deciding.ties import Choice, enough
from tuner.step import share


def unset_because(contest: Contest, default: Pair, scores: Iterable[PairScore], choice: Choice) -> str:
    """ "unset, because ..." for a run that keeps its default."""
    rivals = [score for score in scores if score.pair != default]
    passed = passed_over(contest, rivals)
    pool = [score for score in rivals if score.barred is None] or [score for score in rivals if score.ratio is not None and not passed]
    reason = _in_numbers(contest, default, pool, choice) if pool else _of_barred(rivals, passed)
    sentence = f"unset, because {reason}" + (f"; {passed}" if passed else "")
    return wording.by_backend(sentence, contest.table.arms.values())


def passed_over(contest: Contest, scores: Iterable[PairScore]) -> str | None:
    """The fastest pair that would win enough but is barred, and by what."""
    barred = [score for score in scores if score.barred is not None and enough(contest, score)]
    best = min(barred, key=lambda score: score.objective_ms, default=None)
    return f"{wording.pair(best.pair)} would win {gain(best)} of a step, but {best.barred}" if best else None


def gain(score: PairScore) -> str:
    low, high = score.step_gain_low, score.step_gain_high
    return "an unknown part" if low is None or high is None else numbers.percent_range(low, high)


def _of_barred(rivals: list[PairScore], passed: str | None) -> str:
    if not rivals:
        return "no other arm was measured on every cell"
    nearest = min(rivals, key=lambda score: score.objective_ms)
    detail = "" if passed else f" ({wording.pair(nearest.pair)}: {nearest.barred})"
    return f"no other pair may be picked{detail}"


def _in_numbers(contest: Contest, default: Pair, pool: list[PairScore], choice: Choice) -> str:
    best = max(pool, key=lambda score: -1.0 if score.step_gain_high is None else score.step_gain_high)
    most, least = best.step_gain_high, best.step_gain_low
    if most is None or least is None or best.ratio is None:
        return "one process says nothing about how sure a difference is: inconclusive; set measure.processes to 4 or more"
    name = wording.pair(best.pair)
    measured = f"its attention takes {numbers.interval(best.ratio)} times that of {wording.pair(default)}"
    if most <= 0:
        return f"no arm beat the default: the nearest, {name}, loses at least {numbers.percent(-most)} of a step ({measured})"
    if most < contest.rules.min_gain:
        return f"the best arm, {name}, would win at most {numbers.percent(most)} of a step ({measured}; {_share(contest, default)})"
    needed = numbers.percent(contest.rules.min_gain)
    if choice.leader != default and default in choice.tie_set and choice.leader is not None:
        margin = numbers.percent(contest.rules.tie_margin)
        return f"{wording.pair(choice.leader)} is tied with the default within {margin} of attention time"
    return (
        f"it is inconclusive whether {name} wins {needed} of a step: predicted {numbers.percent(least)} to {numbers.percent(most)} "
        f"({measured}; {_share(contest, default)})"
    )


def _share(contest: Contest, default: Pair) -> str:
    low, high = share(objective_ms(contest, default), contest.rest)
    return f"attention is {numbers.percent_range(low, high)} of a step, predicted"

"""Why nothing is pinned, in numbers."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Phase
from reports import numbers, wording
from reports.choice import kept_out_alone, step_change
from store.decision import Pair, PairScore
from tuner.deciding.contest import Contest
from tuner.deciding.scores import least_detectable, objective_ms
from tuner.deciding.ties import Choice, enough
from tuner.racing.elimination import ALPHA
from tuner.step_model.step import share


def unset_because(contest: Contest, default: Pair, scores: Iterable[PairScore], choice: Choice, lost: str | None = None) -> str:
    """ "unset, because ..." for a run that keeps its default; ``lost``: the sentence of a pick that did not hold."""
    rivals = [score for score in scores if score.pair != default]
    passed = in_words(best) if (best := passed_over(contest, rivals)) else None
    reason = lost or _reason(contest, default, rivals, choice, passed)
    sentence = f"unset, because {reason}" + (f"; {passed}" if passed else "")
    return wording.by_backend(sentence, contest.table.arms.values())


def _reason(contest: Contest, default: Pair, rivals: list[PairScore], choice: Choice, passed: str | None) -> str:
    allowed = [score for score in rivals if score.barred is None]
    if not allowed:
        return _of_barred(contest, default, rivals, passed)
    alone = kept_out_alone(rivals)
    return _kept_out(alone, passed) if alone else _in_numbers(contest, default, allowed, choice)


def passed_over(contest: Contest, scores: Iterable[PairScore]) -> PairScore | None:
    """The fastest pair that would win enough but is barred."""
    barred = [score for score in scores if score.barred is not None and enough(contest, score)]
    return min(barred, key=lambda score: score.objective_ms, default=None)


def _kept_out(alone: PairScore, passed: str | None) -> str:
    return "no arm that may be picked beat the default" + ("" if passed else f"; {in_words(alone)}")


def in_words(passed: PairScore) -> str:
    return f"{wording.pair(passed.pair)} would make a step {step_change(passed)}, but {passed.barred}"


def _of_barred(contest: Contest, default: Pair, rivals: list[PairScore], passed: str | None) -> str:
    """None of ``rivals`` may be picked, so none of them is named as the best. That all of them are slower comes before what else is
    against them; a rival that left the race is, since only the default is left in it."""
    if not rivals:
        return "no other arm was measured on every cell"
    gains, pairs = [score.step_gain_high for score in rivals], [score.pair for score in rivals]
    if all(gain is not None and gain <= 0 for gain in gains):
        least = numbers.percent(-max(gain for gain in gains if gain is not None))
        return f"no arm beat the default: with {_others(contest, default, pairs)} a step is at least {least} slower, predicted"
    left = [score for score in rivals if score.dropped is not None]
    if left and all(score in left or (score.step_gain_high is not None and score.step_gain_high <= 0) for score in rivals):
        first = min(left, key=lambda score: score.objective_ms)
        return f"no arm beat the default: {wording.pair(first.pair)} {first.dropped}"
    nearest = min(rivals, key=lambda score: score.objective_ms)
    return "no other pair may be picked" + ("" if passed else f": {nearest.barred}")


def _others(contest: Contest, default: Pair, pairs: Iterable[Pair]) -> str:
    """The arms that were scored beside the default, by phase: "flashinfer in prefill, flashinfer or triton in decode"."""
    pairs = tuple(pairs)
    served = [phase for phase in (Phase.PREFILL, Phase.DECODE) if contest.table.cells_of(phase)]
    arms = {phase: dict.fromkeys(pair.of(phase) for pair in pairs if pair.of(phase) != default.of(phase)) for phase in served}
    said = {phase: " or ".join(names) for phase, names in arms.items() if names}
    if len(said) == len(served) and len(set(said.values())) == 1:
        return next(iter(said.values())) + (" in either phase" if len(served) > 1 else "")
    return ", ".join(f"{names} in {phase.value}" for phase, names in said.items())


def _in_numbers(contest: Contest, default: Pair, allowed: list[PairScore], choice: Choice) -> str:
    racing = [score for score in allowed if score.dropped is None]  # one that left early has a wide interval and a better rival
    best = max(racing or allowed, key=lambda score: -1.0 if score.step_gain_high is None else score.step_gain_high)
    most, least = best.step_gain_high, best.step_gain_low
    if (most is None or least is None or best.ratio is None) and best.dropped is not None:
        return f"no arm beat the default: {wording.pair(best.pair)}, the nearest, {best.dropped}"
    if most is None or least is None or best.ratio is None:
        return "one process says nothing about how sure a difference is: inconclusive; set measure.processes to 4 or more"
    name = wording.pair(best.pair)
    measured = f"its attention takes {numbers.interval(best.ratio)} times that of {wording.pair(default)}"
    if most <= 0:
        return f"no arm beat the default: with the nearest, {name}, a step is {numbers.change_range(-most, -least)} ({measured})"
    if most < contest.rules.min_gain:
        seen = f"{measured}; {_share(contest, default)}{_detectable(contest, default, best.pair)}"
        faster = f"a step is at most {numbers.percent(most)} faster"
        return f"with the best arm, {name}, {faster} ({seen})" if least > 0 else f"with the nearest, {name}, {faster}, if at all ({seen})"
    needed = numbers.percent(contest.rules.min_gain)
    if choice.leader != default and default in choice.tie_set and choice.leader is not None:
        margin = numbers.percent(contest.rules.tie_margin)
        tie = f"{wording.pair(choice.leader)} is tied with the default within {margin} of attention time"
        return tie + _detectable(contest, default, choice.leader)
    if enough(contest, best):
        sure = numbers.level(1 - ALPHA)
        return f"it is not {sure} sure that {name} is faster than the default at all ({measured}{_detectable(contest, default, best.pair)})"
    return (
        f"it is inconclusive whether {name} makes a step {needed} faster: predicted {numbers.change_range(-most, -least)} "
        f"({measured}; {_share(contest, default)}{_detectable(contest, default, best.pair)})"
    )


def _detectable(contest: Contest, default: Pair, rival: Pair) -> str:
    """How small a difference would have shown."""
    found = least_detectable(contest, rival, default)
    return "" if found is None else f"; a difference of {numbers.percent(found)} would have shown in four such runs of five"


def _share(contest: Contest, default: Pair) -> str:
    low, high = share(objective_ms(contest, default), contest.rest)
    return f"attention is {numbers.percent_range(low, high)} of a step, predicted"

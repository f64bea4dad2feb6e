"""Why a decision is what it is: each comparison behind it with its estimate, its error, what it spent and what it needed.

From the store alone, and worked out again, not kept: the same run gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from reports import numbers, wording
from reports.choice import step_change
from store.decision import Pair, PairScore
from store.runs.run import Run
from store.verdicts.comparison import Comparison, Explanation
from tuner.arithmetic.statistics import comparison
from tuner.deciding.bars import guarded
from tuner.deciding.ceiling import too_low
from tuner.deciding.confirmation import fresh_contest
from tuner.deciding.contest import Contest
from tuner.deciding.leaving import leaving
from tuner.deciding.scores import cell_differences, differences
from tuner.deciding.standing import Standing, standing_of
from tuner.deciding.ties import is_tied
from tuner.racing.elimination import look_alpha
from tuner.racing.grounds import Ground, grounds_of, most_comparisons

Rows = Iterable[tuple[Comparison | None, str]]
Test = Callable[[str, Sequence[float]], Comparison | None]


def explain(run: Run) -> tuple[Explanation, ...]:
    """The questions in the order in which they were put; those without an answer are left out."""
    if not run.race and (ceiling := too_low(run)):
        return (Explanation("Could any kernel win enough?", (), (ceiling.sentence(run.scenario.decide.min_gain),)),)
    standing = standing_of(run)
    found = (_race(standing), *_against_default(standing), _ties(standing), *_confirmation(standing))
    return tuple(_by_backend(each, run) for each in found if each.answers or each.notes)


def _race(standing: Standing) -> Explanation:
    contest, course = standing.contest, standing.course
    test = _test(contest, look_alpha(contest, most_comparisons(grounds_of(contest, standing.ranked))))
    lost = [(one.pair, one.by, ground) for one in course.beaten.values() for ground in one.grounds]
    beaten = [(test(_on(*one), differences(contest, *one)), "beaten") for one in lost]
    left = [f"{wording.pair(pair)} {leaving(contest, defeat)}" for pair, defeat in course.left.items() if defeat]
    still = "; ".join(wording.pair(pair) for pair in standing.choice.best_set)
    question = f"Which pairs may be the best? Looks after {', '.join(map(str, contest.looks))} processes"
    return _explanation(question, beaten, [*left, f"may be the best: {still or 'none'}"])


def _against_default(standing: Standing) -> Iterator[Explanation]:
    contest, default = standing.contest, standing.contest.default
    rivals = [score for score in standing.scores if score.pair in standing.ranked and score.pair != default]
    if default is None or not rivals:
        return
    test, needed = _test(contest, (1 - contest.confidence) / 2), numbers.percent(contest.rules.min_gain)
    gains = [(test(_names(one.pair, default), differences(contest, one.pair, default)), _gain(one)) for one in rivals]
    yield _explanation(f"How much attention time against the default? A step must surely be {needed} faster", gains)
    yield _cells(contest, next((one.pair for one in rivals if one.pair == standing.choice.pick), rivals[0].pair), default)


def _cells(contest: Contest, pair: Pair, default: Pair) -> Explanation:
    limit = numbers.percent(contest.rules.max_cell_loss)
    test = _test(contest, (1 - contest.look_confidence) / 2, math.log1p(contest.rules.max_cell_loss))
    seats = [(pair.of(one.cell.phase), default.of(one.cell.phase), one.cell.name) for one in guarded(contest.table)]
    apart = [(arm, other, cell) for arm, other, cell in seats if arm != other]
    found = [test(f"{arm} / {other} on {cell}", cell_differences(contest.table, arm, other, cell)) for arm, other, cell in apart]
    rows = [(one, f"{'surely' if one.high <= one.margin else 'not surely'} within {limit}") for one in found if one]
    return _explanation(f"Does {wording.pair(pair)} lose a cell? On each it must surely be within {limit} of the default", rows)


def _ties(standing: Standing) -> Explanation:
    contest, leader = standing.contest, standing.choice.leader
    test = _test(contest, 1 - contest.look_confidence, math.log1p(contest.rules.tie_margin))
    allowed = [score.pair for score in standing.scores if score.barred is None and score.dropped is None]
    rows = [
        (test(_names(pair, leader), differences(contest, pair, leader)), "tied" if is_tied(contest, pair, leader) else "not tied")
        for pair in allowed
        if leader is not None and pair != leader
    ]
    return _explanation(f"What is tied? The whole interval must lie within {numbers.percent(contest.rules.tie_margin)}", rows)


def _confirmation(standing: Standing) -> Iterator[Explanation]:
    pick, default = standing.choice.pick, standing.contest.default
    fresh = fresh_contest(standing, pick) if pick and default and pick != default else None
    if fresh is None or pick is None or default is None:
        return
    test = _test(fresh, (1 - fresh.confidence) / 2, also=differences(standing.contest, pick, default))
    row = (test(_names(pick, default), differences(fresh, pick, default)), "measured again")
    yield _explanation("Does the pick hold in fresh processes? Their spread is pooled with that of the race", [row])


def _test(contest: Contest, alpha: float, margin: float = 0.0, also: Sequence[float] = ()) -> Test:
    return lambda what, found: comparison(what, found, alpha, margin, contest.rules.sigma_floor, also)


def _names(pair: Pair, other: Pair) -> str:
    return f"{wording.pair(pair)} / {wording.pair(other)}"


def _on(pair: Pair, other: Pair, ground: Ground) -> str:
    """With the phase, where it is one."""
    phases = {weighted.cell.phase.value for weighted in ground}
    return f"{_names(pair, other)}{f' in {next(iter(phases))}' if len(phases) == 1 else ''}"


def _gain(score: PairScore) -> str:
    return score.barred or score.dropped or f"a step {step_change(score)}, predicted"


def _explanation(question: str, rows: Rows, notes: Iterable[str] = ()) -> Explanation:
    return Explanation(question, tuple((found, answer) for found, answer in rows if found is not None), tuple(notes))


def _by_backend(explanation: Explanation, run: Run) -> Explanation:
    """With the backend's name for each arm's where the run has one arm of that backend."""

    def shorter(text: str) -> str:
        return wording.by_backend(text, run.arms)

    answers = tuple((replace(found, what=shorter(found.what)), shorter(answer)) for found, answer in explanation.answers)
    return Explanation(shorter(explanation.question), answers, tuple(map(shorter, explanation.notes)))

"""The pick once more, in fresh processes after the choice: the best of several looks faster than it is in the times it was chosen by.

Only these processes give the numbers that are reported for a pick. How much single processes scatter is known from the race as well.
"""

from __future__ import annotations

from dataclasses import replace

from reports import numbers, wording
from reports.choice import step_change
from store.decision import Pair, PairScore
from tuner.arithmetic.looks import CONFIRMING
from tuner.deciding.contest import Contest
from tuner.deciding.standing import Standing, score
from tuner.deciding.table import table_of
from tuner.deciding.ties import enough

UNCONFIRMED = "the pick was not measured again in fresh processes: its numbers are of those it was chosen by, and rather too good"


def with_fresh_numbers(standing: Standing, pick: Pair) -> Standing:
    """``standing`` with the pick's score from the processes after the choice, where there are such."""
    fresh = fresh_contest(standing, pick)
    if fresh is None:
        return standing
    scores = tuple(score(standing.run, fresh, pick) if each.pair == pick else each for each in standing.scores)
    return replace(standing, scores=scores, fresh=fresh)


def fresh_contest(standing: Standing, pick: Pair) -> Contest | None:
    """The pick against the default and nobody else; None where they were not both measured `CONFIRMING` times after the choice."""
    contest = standing.contest
    if contest.default is None:
        return None
    table = table_of(standing.run, confirming=True)
    if len(table.shared([pick, contest.default], contest.table.cells)) < CONFIRMING:
        return None
    return replace(contest, table=table, earlier=contest.table, comparisons=1, confidence=contest.rules.confidence, looks=(CONFIRMING,))


def refuted(standing: Standing, confirmed: Standing, pick: Pair) -> str | None:
    """Why the pick is none after all: what it had to win it did not win again."""
    if confirmed.fresh is None:
        return None
    before, after = _score_of(standing, pick), _score_of(confirmed, pick)
    if after.barred is None and enough(confirmed.fresh, after):
        return None
    rounds, needed = len(standing.contest.table.processes), numbers.percent(standing.contest.rules.min_gain)
    found = after.barred or f"a step is {step_change(after)}, predicted, which is not surely {needed} faster"
    return (
        f"{wording.pair(pick)} would have made a step {step_change(before)} by the {rounds} processes it was chosen by, but in "
        f"{len(confirmed.fresh.table.processes)} fresh ones {found}"
    )


def _score_of(standing: Standing, pick: Pair) -> PairScore:
    return next(each for each in standing.scores if each.pair == pick)

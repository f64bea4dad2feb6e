"""What the flags of a switch leave unsaid: a missing default, a faster pair passed over, what was preferred among ties."""

from __future__ import annotations

from reports import numbers, wording
from store.decision import Pair
from tuner.deciding.given_up import given_up
from tuner.deciding.scores import objective_ms, ratio
from tuner.deciding.standing import Standing
from tuner.deciding.unset import in_words, passed_over


def remarks(standing: Standing, pick: Pair) -> tuple[str, ...]:
    without = f"{standing.missing}; pinned without it" if standing.missing else None
    faster = [score for score in standing.scores if score.objective_ms < objective_ms(standing.contest, pick)]
    passed = passed_over(standing.contest, faster)
    said = (without, in_words(passed) if passed else None, given_up(standing, pick, passed), _preferred(standing, pick))
    return tuple(text for text in said if text)


def _preferred(standing: Standing, pick: Pair) -> str | None:
    """Why a tied pair was picked over the fastest, and the speed given up for it."""
    contest, leader = standing.contest, standing.choice.leader
    found = ratio(contest, pick, leader) if leader not in (None, pick) and leader else None
    if found is None or leader is None:
        return None
    margin = numbers.percent(contest.rules.tie_margin)
    return (
        f"{wording.pair(pick)} takes {numbers.interval(found)} times the attention time of {wording.pair(leader)}, "
        f"a tie within {margin}; picked because it changes fewer of the default's backends"
    )

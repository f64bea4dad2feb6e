"""From scores to a pick: the fastest pair that surely wins enough, and what is tied with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from store.decision import Pair, PairScore
from tuner.deciding.contest import Contest, counted_arms
from tuner.deciding.scores import differences
from tuner.statistics import tied


@dataclass(frozen=True)
class Choice:
    """``leader`` is the fastest pair that may be picked; ``pick`` the one preferred among those tied with it."""

    pick: Pair | None
    leader: Pair | None
    tie_set: tuple[Pair, ...]


def choose(contest: Contest, scores: Iterable[PairScore], preference: Callable[[Pair], tuple[float, ...]]) -> Choice:
    """The default unless a pair surely wins ``decide.min_gain`` of a step; ties go to the default, then by ``preference``.

    Without a default the fastest pair leads, whatever it wins.
    """
    allowed = [score for score in scores if score.barred is None]
    winners = [score for score in allowed if contest.default is None or enough(contest, score)]
    leader = _fastest(winners or allowed)
    ties = tuple(score.pair for score in allowed if leader and _is_tied(contest, score.pair, leader))
    if contest.default is not None and (not winners or contest.default in ties):
        return Choice(contest.default, leader, ties)
    fit = [score.pair for score in winners if score.pair in ties]
    return Choice(min(fit, key=preference, default=None), leader, ties)


def enough(contest: Contest, score: PairScore) -> bool:
    """Surely: at the unfavourable end of the interval, of attention's share and of exposed metadata."""
    return score.pair != contest.default and score.step_gain_low is not None and score.step_gain_low >= contest.rules.min_gain


def preference_of(contest: Contest, usual: Pair, scores: Iterable[PairScore]) -> Callable[[Pair], tuple[float, ...]]:
    """Smaller is preferred: fewer backends changed from ``usual`` (backend names), then less attention time."""
    times = {score.pair: score.objective_ms for score in scores}

    def order(pair: Pair) -> tuple[float, ...]:
        backends = backends_of(contest, pair)
        changed = (backends.prefill != usual.prefill) + (backends.decode != usual.decode)
        return changed, times[pair]

    return order


def backends_of(contest: Contest, pair: Pair) -> Pair:
    """The pair with the engine's backend names for its arms."""
    arms = contest.table.arms
    return Pair(arms[pair.prefill].backend, arms[pair.decode].backend)


def _fastest(scores: Iterable[PairScore]) -> Pair | None:
    best = min(scores, key=lambda score: score.objective_ms, default=None)
    return best.pair if best else None


def _is_tied(contest: Contest, pair: Pair, leader: Pair) -> bool:
    rules = contest.rules
    if counted_arms(pair, contest.cells) == counted_arms(leader, contest.cells):
        return True
    return tied(differences(contest, pair, leader), rules.tie_margin, rules.confidence, rules.sigma_floor)

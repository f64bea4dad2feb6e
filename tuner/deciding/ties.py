"""From scores to a pick: the fastest pair that surely wins enough, and what is tied with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from store.decision import Pair, PairScore
from tuner.deciding.contest import Contest, counted_arms
from tuner.deciding.scores import tied_at


@dataclass(frozen=True)
class Choice:
    """``leader`` is the fastest pair that may be picked; ``pick`` the one preferred among those tied with it. ``best_set``: those
    that may be picked and are not surely slower than another of them."""

    pick: Pair | None
    leader: Pair | None
    tie_set: tuple[Pair, ...]
    best_set: tuple[Pair, ...]


def choose(
    contest: Contest, scores: Iterable[PairScore], preference: Callable[[Pair], tuple[float, ...]], unbeaten: Collection[Pair]
) -> Choice:
    """The default unless it is beaten and a pair surely wins ``decide.min_gain`` of a step; ties go to the default, then by
    ``preference``.

    Without a default the fastest pair leads, whatever it wins.
    """
    allowed = [score for score in scores if score.barred is None and score.dropped is None]
    best = tuple(score.pair for score in allowed if score.pair in unbeaten)
    winners = [score for score in allowed if contest.default is None or enough(contest, score)]
    leader = _fastest(winners or allowed)
    ties = tuple(score.pair for score in allowed if leader and is_tied(contest, score.pair, leader))
    if contest.default is not None and (not winners or contest.default in (*ties, *best)):
        return Choice(contest.default, leader, ties, best)
    fit = [score.pair for score in winners if score.pair in ties]
    return Choice(min(fit, key=preference, default=None), leader, ties, best)


def enough(contest: Contest, score: PairScore) -> bool:
    """Surely: at the unfavourable end of the interval, of attention's share and of exposed metadata."""
    return score.pair != contest.default and score.step_gain_low is not None and score.step_gain_low >= contest.rules.min_gain


def preference_of(contest: Contest, usual: Pair, scores: Iterable[PairScore]) -> Callable[[Pair], tuple[float, ...]]:
    """Smaller is preferred: fewer backends changed from ``usual`` (backend names), fewer knobs turned, then less attention time."""
    times = {score.pair: score.objective_ms for score in scores}

    def order(pair: Pair) -> tuple[float, ...]:
        backends = backends_of(contest, pair)
        changed = (backends.prefill != usual.prefill) + (backends.decode != usual.decode)
        return changed, _turned(contest, pair), times[pair]

    return order


def _turned(contest: Contest, pair: Pair) -> int:
    """Settings that are not the default's: knobs, and the page size."""
    arms, default = [contest.table.arms[name] for name in (pair.prefill, pair.decode)], contest.default
    own = contest.table.arms[default.decode].page_size if default else arms[1].page_size
    return len({knob for arm in arms for knob in arm.knobs}) + (arms[1].page_size != own)


def backends_of(contest: Contest, pair: Pair) -> Pair:
    """The pair with the engine's backend names for its arms."""
    arms = contest.table.arms
    return Pair(arms[pair.prefill].backend, arms[pair.decode].backend)


def _fastest(scores: Iterable[PairScore]) -> Pair | None:
    best = min(scores, key=lambda score: score.objective_ms, default=None)
    return best.pair if best else None


def is_tied(contest: Contest, pair: Pair, other: Pair) -> bool:
    if counted_arms(pair, contest.cells) == counted_arms(other, contest.cells):
        return True
    return tied_at(contest, pair, other, contest.look_confidence)

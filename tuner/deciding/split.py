"""What it buys to serve prefill and decode by different backends."""

from __future__ import annotations

from collections.abc import Iterable

from store.decision import PairScore, Split
from tuner.deciding.contest import Contest
from tuner.deciding.scores import ratio, step_gain_over
from tuner.deciding.ties import backends_of


def split_of(contest: Contest, scores: Iterable[PairScore]) -> Split | None:
    """The fastest pair of two backends beside the fastest single backend, of each kind one that may be picked before others."""
    compared = (score for score in scores if score.pair == contest.default or score.ratio is not None)
    order = sorted(compared, key=lambda score: (score.barred is not None, score.dropped is not None, score.objective_ms))
    backends = {score.pair: backends_of(contest, score.pair) for score in order}
    pairs = [pair for pair, names in backends.items() if names.prefill != names.decode]
    singles = [pair for pair, names in backends.items() if names.prefill == names.decode]
    if not pairs or not singles:
        return None
    low, high = step_gain_over(contest, pairs[0], singles[0]) or (None, None)
    return Split(pairs[0], singles[0], ratio(contest, pairs[0], singles[0]), low, high)

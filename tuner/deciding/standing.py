"""A run, scored: who was compared with whom, and who leads."""

from __future__ import annotations

from dataclasses import dataclass, replace

from store.decision import Pair, PairScore
from store.runs.run import Run
from tuner.arithmetic.objective import counted
from tuner.deciding.bars import from_the_start, guarded, kept_out, loses_a_cell
from tuner.deciding.contest import Contest, contest_of
from tuner.deciding.incumbent import incumbent, unmeasured, usual
from tuner.deciding.leaving import leaving
from tuner.deciding.pairs import pairs_of, thin, unranked
from tuner.deciding.scores import least_detectable, objective_ms, ratio, step_gain, worst_cell
from tuner.deciding.table import Table, table_of
from tuner.deciding.ties import Choice, choose, preference_of
from tuner.racing.course import Course, course_of


@dataclass(frozen=True)
class Standing:
    """``missing`` = the sentence why the default was not measured (then the contest has none). ``ranked`` are the pairs
    compared with each other; ``scores`` hold those first, then the barred, each by attention time. ``course``: how the race among
    them went. ``fresh``: the pick against the default in the processes after the choice, None = not measured again."""

    run: Run
    missing: str | None
    contest: Contest
    ranked: tuple[Pair, ...]
    course: Course
    scores: tuple[PairScore, ...]
    choice: Choice
    fresh: Contest | None = None

    @property
    def compared(self) -> tuple[Pair, ...]:
        """Those with a ratio to the default, who may be picked first, then by attention time."""
        return tuple(score.pair for score in self.scores if score.ratio is not None)


def standing_of(run: Run) -> Standing:
    table = table_of(run)
    missing = unmeasured(run, table)
    default = None if missing else incumbent(run)
    pairs = _timed_pairs(run, table, default)
    bars = {pair: unranked(table, pair, default, pairs) for pair in pairs}
    ranked = tuple(pair for pair in pairs if bars[pair] is None)
    contest = contest_of(run, table, default, ranked)
    course = course_of(contest, ranked, [pair for pair in ranked if from_the_start(run, contest, pair)])
    bars |= {pair: thin(table, pair, pairs) for pair, defeat in course.left.items() if defeat is None}
    found = (replace(score(run, contest, pair, bars[pair]), dropped=leaving(contest, course.left.get(pair))) for pair in pairs)
    scores = tuple(sorted(found, key=lambda one: (one.barred is not None, one.objective_ms)))
    choice = choose(contest, scores, preference_of(contest, usual(run), scores), course.in_it(ranked))
    return Standing(run, missing, contest, ranked, course, scores, choice)


def _timed_pairs(run: Run, table: Table, default: Pair | None) -> tuple[Pair, ...]:
    """Pairs that some process timed whole; the default stands first."""
    pairs = dict.fromkeys([*([default] if default else []), *pairs_of(table)])
    return tuple(pair for pair in pairs if table.shared([pair], counted(table.cells, run.scenario.decide.objective)))


def score(run: Run, contest: Contest, pair: Pair, unranked_because: str | None = None) -> PairScore:
    if unranked_because is not None:
        return PairScore(pair, objective_ms(contest, pair), None, None, None, None, None, unranked_because)
    default = contest.default
    against = ratio(contest, pair, default) if default is not None and pair != default else None
    low, high = (0.0, 0.0) if pair == default else step_gain(contest, pair) or (None, None)
    worst, worst_ratio = worst_cell(contest, pair, guarded(contest.table)) or (None, None)
    return PairScore(pair, objective_ms(contest, pair), against, low, high, worst, worst_ratio, _barred(run, contest, pair))


def _barred(run: Run, contest: Contest, pair: Pair) -> str | None:
    return kept_out(run, pair) or loses_a_cell(contest, pair) or from_the_start(run, contest, pair)


def detectable(standing: Standing) -> float | None:
    """The smallest difference of a rival from the default (else from the leader) that this run would find, at its noisiest. One that
    left the race was far beyond it in a few processes, which says nothing of the run."""
    contest, base = standing.contest, standing.contest.default or standing.choice.leader
    if base is None:
        return None
    effects = [least_detectable(contest, pair, base) for pair in standing.ranked if pair != base and pair not in standing.course.left]
    return max((effect for effect in effects if effect is not None), default=None)

"""A recorded run told line by line, as it happened: whose numbers these are, each probe, and how the decision came about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from reports import choice, numbers, wording
from reports.summary import heaviest
from store.decision import Decision, Interval, Pair, PairScore, Ruling
from store.runs.run import Run

WIDTH = 24  # of a drawn interval
ONE_PROCESS = "one process says nothing about how sure it is"


def recorded(run: Run) -> str:
    """What must be said before any of its numbers."""
    engine = f"{wording.engine(run.scenario.engine.name)} {run.engine_version}" if run.engine_version else "no engine on the worker's path"
    return f"Recorded, not measured here: {wording.title(run)}, {engine}, run {run.id} of {run.created[:10]}"


def probe(run: Run, arm: str, trials: Sequence[Trial]) -> str:
    """How an arm did alone: on how many cells it was right, and its time on the cells that count most."""
    right = [trial for trial in trials if trial.outcome is Outcome.MEASURED]
    shown = {heaviest(run, phase) for phase in Phase}
    times = [f"{trial.cell} {numbers.microseconds(trial.cost.device_us)}" for trial in right if trial.cost and trial.cell in shown]
    failed = [f"{trial.cell} {trial.outcome.value}" for trial in trials if trial not in right]
    line = f"probed {arm}: right on {len(right)} of {len(trials)} cells; {', '.join((*times, *failed))}"
    return wording.by_backend(line, run.arms)


def question(run: Run, default: Pair, rival: Pair) -> str:
    """What the lines of `rounds` draw."""
    line = f"attention time of {wording.pair(rival)} (o in its interval) / {wording.pair(default)} (|), and the predicted change of a step:"
    return wording.by_backend(line, run.arms)


def rounds(run: Run, decisions: Sequence[Decision], rival: Pair) -> tuple[str, ...]:
    """One line a process: how ``rival`` stood against the default in the decision after it. ``decisions``: after each."""
    scores = [choice.score_of(decision, rival) for decision in decisions]
    low, high = _scale(score.ratio for score in scores if score and score.ratio)
    stood = [_standing(run, decision, score, low, high) for decision, score in zip(decisions, scores)]
    return tuple(f"round {number} of {len(stood)}  {line}" for number, line in enumerate(stood, 1))


def _scale(ratios: Iterable[Interval]) -> tuple[float, float]:
    """The ratios at both ends of the drawing, which holds every interval and 1."""
    ends = [1.0, *(end for ratio in ratios for end in (ratio.low, ratio.high))]
    return min(ends), max(ends)


def _standing(run: Run, decision: Decision, score: PairScore | None, low: float, high: float) -> str:
    if score is None or score.ratio is None:
        return f"{'':{WIDTH}}  {ONE_PROCESS}"
    return f"{draw(score.ratio, low, high)}  {numbers.interval(score.ratio)}, {_answer(run, decision, score)}"


def draw(ratio: Interval, low: float, high: float) -> str:
    """``ratio`` on a line of `WIDTH` characters that runs from ``low`` to ``high``; 1, where the default stands, is a bar."""

    def column(value: float) -> int:  # a place is kept free at both ends, for brackets beside an estimate there
        return 1 + round((value - low) / (high - low) * (WIDTH - 3))

    middle = column(ratio.estimate)
    left, right = min(column(ratio.low), middle - 1), max(column(ratio.high), middle + 1)
    line = [" "] * WIDTH
    line[left : right + 1] = "-" * (right + 1 - left)
    for place, mark in ((column(1.0), "|"), (left, "["), (right, "]"), (middle, "o")):
        line[place] = mark
    return "".join(line)


def _answer(run: Run, decision: Decision, score: PairScore) -> str:
    """What a run that ended there would have said of the pair."""
    if decision.ruling is Ruling.SWITCH:
        return "pin it" if score.pair == decision.pick else "another pair is pinned"
    if score.step_gain_low is None or score.step_gain_high is None:
        return "its part of a step is unknown"
    change = f"step {choice.step_change(score)}"
    open_still = score.step_gain_low < run.scenario.decide.min_gain <= score.step_gain_high
    return f"{change}: inconclusive" if open_still else f"{change}: the default stays"

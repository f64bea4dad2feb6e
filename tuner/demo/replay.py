"""A recorded run once more: its probes and rounds in their order, at another speed, decided again after every round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from backends.measured import Round, Trial
from reports import costs, story
from reports.wording import by_backend
from store.decision import Decision
from store.runs.run import Run
from tuner.decide import decide
from tuner.new_run import default_arms
from tuner.progress import Progress
from tuner.racing.sieve import left_out

PLAYED_S = 20.0  # how long the waiting of a replay takes in all
PARTS = 3  # of the story, which shares that


@dataclass(frozen=True)
class Pace:
    """``per_second``: seconds of waiting for a recorded second; 0 = none at all."""

    per_second: float
    sleep: Callable[[float], None] = time.sleep


def pace_for(run: Run, waiting: bool, brief: bool = False) -> Pace:
    """The pace that brings ``run`` into `PLAYED_S`, or ``brief``, as a part of the story, into its share of them."""
    return pace_of(sum(seconds for _, seconds in (*_probe_phases(run.trials), *round_phases(run.rounds))), waiting, brief)


def pace_of(recorded_s: float, waiting: bool, brief: bool = False) -> Pace:
    played_s = PLAYED_S / PARTS if brief else PLAYED_S
    return Pace(min(1.0, played_s / recorded_s) if waiting and recorded_s else 0.0)


def replay(run: Run, progress: Progress, pace: Pace, brief: bool = False) -> Decision:
    """Shows probes and rounds as they came, and how the decision moved; returns the decision after the last round. ``brief``: without
    who did not race, and why."""
    progress.total(len(run.arms) + len(run.rounds))
    for arm, trials in groupby(run.trials, key=lambda trial: trial.arm):
        _probe(run, arm, tuple(trials), progress, pace)
    for each in () if brief else left_out(run.arms, run.cells, run.trials, default_arms(run.default, run.arms)):
        progress.note(by_backend(str(each), run.arms))
    return _rounds(run, progress, pace)


def _probe(run: Run, arm: str, trials: tuple[Trial, ...], progress: Progress, pace: Pace) -> None:
    play(f"probing {arm}", _probe_phases(trials), progress, pace)
    progress.note(story.probe(run, arm, trials))
    progress.step()


def _rounds(run: Run, progress: Progress, pace: Pace) -> Decision:
    final = decide(run)
    rival = costs.compared(final)
    lines = story.rounds(run, decided_after_each(run), rival) if rival else ()
    if final.default and rival:
        progress.note(story.question(run, final.default, rival))
    for number, measured in enumerate(run.rounds):
        play(f"round {number + 1} of {len(run.rounds)}", round_phases((measured,)), progress, pace)
        progress.step()
        for line in lines[number : number + 1]:
            progress.note(line)
    return final


def play(headline: str, phases: Iterable[tuple[str, float]], progress: Progress, pace: Pace) -> None:
    """What passes by while it is waited for; without waiting there is nothing to see."""
    for phase, seconds in phases if pace.per_second else ():
        progress.phase(headline, phase)
        pace.sleep(seconds * pace.per_second)


def decided_after_each(run: Run) -> tuple[Decision, ...]:
    """What the run would have said, had it ended after each of its rounds."""
    return tuple(decide(replace(run, rounds=run.rounds[:count], decision=None)) for count in range(1, len(run.rounds) + 1))


def _probe_phases(trials: tuple[Trial, ...]) -> Iterator[tuple[str, float]]:
    """What of a probe's wall time was recorded."""
    for trial in trials:
        yield f"build {trial.cell}", trial.build_s or 0.0
        yield f"capture {trial.cell}", trial.capture_s or 0.0


def round_phases(rounds: tuple[Round, ...]) -> Iterator[tuple[str, float]]:
    for measured in rounds:
        yield from measured.seconds

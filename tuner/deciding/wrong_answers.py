"""Arms that would be served and answer wrongly, or not at all: worse than slow, and worse than not known."""

from __future__ import annotations

from collections.abc import Iterator

from backends.measured import Trial
from backends.outcome import Outcome
from reports.outcome_words import ends
from store.decision import Pair
from store.runs.run import Run


def wrong_answers(run: Run, pair: Pair) -> Iterator[str]:
    """A sentence for each cell on which an arm of ``pair`` gave a wrong answer, guards included."""
    for trial in _trials(run, pair):
        if trial.outcome is Outcome.INCORRECT:
            yield f"{trial.arm} answers wrongly on {trial.cell}: {trial.detail}"


def no_answers(run: Run, pair: Pair) -> Iterator[str]:
    """The same for where it took its process with it, or never ended."""
    for trial in _trials(run, pair):
        if trial.outcome in (Outcome.CRASHED, Outcome.TIMED_OUT):
            yield f"{trial.arm} {ends(trial.outcome)} on {trial.cell}: {trial.detail}"


def _trials(run: Run, pair: Pair) -> Iterator[Trial]:
    """The last one of the pair's arm on each cell."""
    last = {(trial.arm, trial.cell): trial for trial in run.trials}
    found = (last.get((pair.of(weighted.cell.phase), weighted.cell.name)) for weighted in run.cells)
    yield from (trial for trial in found if trial is not None)

"""Arms that would be served and answer wrongly: worse than slow, and worse than not known."""

from __future__ import annotations

from collections.abc import Iterator

from backends.outcome import Outcome
from store.decision import Pair
from store.runs.run import Run


def wrong_answers(run: Run, pair: Pair) -> Iterator[str]:
    """A sentence for each cell on which an arm of ``pair`` gave a wrong answer, guards included."""
    last = {(trial.arm, trial.cell): trial for trial in run.trials}
    for weighted in run.cells:
        trial = last.get((pair.of(weighted.cell.phase), weighted.cell.name))
        if trial is not None and trial.outcome is Outcome.INCORRECT:
            yield f"{trial.arm} answers wrongly on {trial.cell}: {trial.detail}"

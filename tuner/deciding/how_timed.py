"""What of the way the shown arms were timed limits the answer: their probes' doubts, and blocks that had to be timed again."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from store.run import Run
from tuner.sieve import measured_trials


def how_timed(run: Run, arms: Collection[str]) -> Iterator[str]:
    yield from _doubts(run, arms)
    yield from _voided(run)


def _doubts(run: Run, arms: Collection[str]) -> Iterator[str]:
    """Each label of a probe once an arm, with the cells it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for (arm, cell), trial in measured_trials(run.trials).items():
        for label in trial.labels if arm in arms else ():
            found.setdefault((arm, label), []).append(cell)
    for (arm, label), cells in found.items():
        yield f"{arm} on {', '.join(cells)}: {label}"


def _voided(run: Run) -> Iterator[str]:
    sentences = [sentence for measured in run.rounds for cell in measured.cells for sentence in cell.voided]
    if sentences:
        yield f"blocks timed again since the device was not at its usual pace: {len(sentences)}; the first: {sentences[0]}"

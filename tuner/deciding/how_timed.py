"""What of the way the shown arms were timed limits the answer: clocks that moved, their probes' doubts, and blocks that had to be timed
again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from backends.deviation import showed
from store.runs.run import Run
from tuner.racing.sieve import measured_trials


def how_timed(run: Run, arms: Collection[str]) -> Iterator[str]:
    yield from _unsettled(run)
    yield from _doubts(run, arms)
    yield from _voided(run)


def _unsettled(run: Run) -> Iterator[str]:
    unsettled = Counter(cell.cell for measured in run.rounds for cell in measured.cells if not cell.settled)
    for cell, count in sorted(unsettled.items()):
        yield f"{cell} had not settled in {count} of {len(run.rounds)} processes{_clocks(run, cell)}"


def _clocks(run: Run, name: str) -> str:
    """Between which the SMs ran there meanwhile; "" where nobody could read them."""
    unsettled = [cell for measured in run.rounds for cell in measured.cells if cell.cell == name and not cell.settled]
    clocks = [visit.sm_clock_mhz for cell in unsettled for visit in cell.visits if visit.sm_clock_mhz is not None]
    return f" (SM clock {min(clocks):.0f} to {max(clocks):.0f} MHz)" if clocks else ""


def _doubts(run: Run, arms: Collection[str]) -> Iterator[str]:
    """Each label of a probe once an arm, with the cells it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for (arm, cell), trial in measured_trials(run.trials).items():
        for label in trial.labels if arm in arms else ():
            if not showed(label):  # which is said of the pair
                found.setdefault((arm, label), []).append(cell)
    for (arm, label), cells in found.items():
        yield f"{arm} on {', '.join(cells)}: {label}"


def _voided(run: Run) -> Iterator[str]:
    sentences = [sentence for measured in run.rounds for cell in measured.cells for sentence in cell.voided]
    if sentences:
        yield f"blocks timed again since the device was not at its usual pace: {len(sentences)}; the first: {sentences[0]}"

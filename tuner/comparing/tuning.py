"""What either side chose by timing it itself, and where the two chose otherwise. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.measured import Trial
from store.comparisons.side_by_side import SideBySide
from tuner.racing.sieve import measured_trials

Choices = tuple[tuple[str, str], ...]  # problem, choice
PINNED = "the candidate replays what the baseline chose by timing, where it has that choice (--tuning pinned)"


def choices_of(trials: Iterable[Trial]) -> Choices:
    """Of a problem that was chosen for more than once, the first."""
    found = [choice for trial in measured_trials(trials).values() for choice in trial.autotuned]
    return tuple(sorted(dict(reversed(found)).items()))


def tuned_apart(measured: SideBySide) -> Iterator[str]:
    """A sentence for each problem that both sides met and chose otherwise for."""
    old, new = (dict(choices_of(run.trials)) for run in (measured.baseline, measured.candidate))
    for problem in sorted(old.keys() & new.keys()):
        if old[problem] != new[problem]:
            yield f"{problem} was tuned otherwise: the baseline took {old[problem]}, the candidate {new[problem]}"

"""How each arm's kernels came to be: with their packages, out of a cache, or compiled where they were measured."""

from __future__ import annotations

from collections.abc import Iterable

from backends.measured import Trial
from reports import wording
from reports.page import Table
from store.runs.run import Run

MOST_NAMES = 4
PREBUILT = "prebuilt: no compiled file was taken from a cache"


def table(run: Run) -> Table | None:
    """A row for each arm that was looked at; None where none was, as in early runs."""
    arms = dict.fromkeys(trial.arm for trial in run.trials)
    rows = tuple((arm, said) for arm in arms if (said := origin(trial for trial in run.trials if trial.arm == arm)))
    return Table(("arm", "its kernels"), rows) if rows else None


def origin(trials: Iterable[Trial]) -> str:
    """The kernels of one arm by where they lay; a process that came later finds what an earlier one built, so the first word
    on a kernel counts."""
    places: dict[str, str] = {}
    looked = [trial.kernel_files for trial in trials if trial.kernel_files is not None]
    for files in looked:
        for name, place in files:
            places.setdefault(name, place)
    words = dict.fromkeys(sorted(places.values()))
    said = ((word, [name for name, place in places.items() if place == word]) for word in words)
    return "; ".join(f"{word}: {wording.the_first(names, MOST_NAMES)}" for word, names in said) or (PREBUILT if looked else "")

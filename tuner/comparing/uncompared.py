"""What ran, or should have, and cannot be compared: arms that the baseline lacks, and calls served in another mode. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.measured import Trial
from reports.outcome_words import ends
from store.comparisons.side_by_side import SideBySide
from tuner.racing.sieve import measured_trials


def without_baseline(measured: SideBySide) -> Iterator[str]:
    """A sentence for each arm that failed in the baseline, where no version can be blamed for anything."""
    old = measured_trials(measured.baseline.trials)
    last = {(trial.arm, trial.cell): trial for trial in measured.baseline.trials}
    failed = [trial for key, trial in last.items() if key not in old]
    for arm in dict.fromkeys(trial.arm for trial in failed):
        yield _without([trial for trial in failed if trial.arm == arm], measured)


def _without(failed: Sequence[Trial], measured: SideBySide) -> str:
    first, new = failed[0], measured_trials(measured.candidate.trials)
    cells = ", ".join(trial.cell for trial in failed)
    there = sum((trial.arm, trial.cell) in new for trial in failed)
    runs = "it runs there" if there == len(failed) else f"it runs on {there} of these {len(failed)} cells"
    return f"{first.arm} {ends(first.outcome)} in the baseline on {cells} ({first.detail}); in the candidate {runs}; nothing is compared"


def in_other_modes(measured: SideBySide) -> tuple[str, ...]:
    """A sentence for each arm that one side serves by graph replays and the other by eager calls, whose times do not compare."""
    return tuple(
        f"{arm} was served in {before} mode and is in {after} mode now on {', '.join(cells)}, and times of the two do not compare"
        for (arm, before, after), cells in _other_modes(measured).items()
    )


def _other_modes(measured: SideBySide) -> dict[tuple[str, str, str], list[str]]:
    old, new = (measured_trials(run.trials) for run in (measured.baseline, measured.candidate))
    found: dict[tuple[str, str, str], list[str]] = {}
    for (arm, cell), before in old.items():
        after = new.get((arm, cell))
        if after and before.identity and after.identity and before.identity.mode != after.identity.mode:
            found.setdefault((arm, before.identity.mode, after.identity.mode), []).append(cell)
    return found

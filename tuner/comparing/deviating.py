"""Answers that deviate, as is declared of a backend, on one side of a comparison alone: another release computes something else. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from backends.deviation import showed
from store.comparisons.side_by_side import SideBySide
from tuner.racing.sieve import measured_trials


def deviating_apart(measured: SideBySide) -> Iterator[str]:
    """A sentence for each arm of whose common cells one showed it on one side alone."""
    old, new = (measured_trials(run.trials) for run in (measured.baseline, measured.candidate))
    keys = [{key for key in old.keys() & new.keys() if any(map(showed, side[key].labels))} for side in (old, new)]
    for side, other, mine in (("baseline", "candidate", keys[0] - keys[1]), ("candidate", "baseline", keys[1] - keys[0])):
        for arm in sorted({arm for arm, _ in mine}):
            cells = ", ".join(sorted(cell for name, cell in mine if name == arm))
            yield f"{arm} on {cells}: its answers deviate, as is declared of it, in the {side} and not in the {other}: another task"

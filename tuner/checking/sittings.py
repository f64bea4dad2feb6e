"""How far whole sittings of the pin's own versions were off from one another, where the store has enough of them."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from store.database.connect import Store
from store.runs.repository import finished_runs
from store.runs.run import Run
from tuner.checking.screen import correction_by, same_board
from tuner.checking.series import series_of
from tuner.checking.untouched import FEWEST
from tuner.verdicts.session import SessionNoise, assumed, session_noise
from tuner.verdicts.stored import difference

SILENT = SessionNoise(0.0, 1)  # what is asked for here is not assumed


def sitting_noise(store: Store, then: Run, now: Run) -> SessionNoise:
    """From finished runs of the question, machine and libraries of ``then``, each in one pair; assumed where those are few, and
    between two boards."""
    if not same_board(then, now):
        return assumed(same_board=False)
    runs = finished_runs(store, then.digest)
    found = [pair for old, new in zip(runs[::2], runs[1::2]) if (pair := _between(old, new))]
    return session_noise([difference for difference, _ in found], [variance for _, variance in found], same_board=True)


def _between(old: Run, new: Run) -> tuple[float, float] | None:
    """Root mean square over arms and cells of what the two are off by, less what the other arms moved by, and the part of its square
    that their processes explain; None where they have no arm and cell in common."""
    each = tuple(_differences(old, new))
    return (fmean(square for square, _ in each) ** 0.5, fmean(variance for _, variance in each)) if each else None


def _differences(old: Run, new: Run) -> Iterator[tuple[float, float]]:
    before, after = series_of(old), series_of(new)
    common = [key for key in before if key in after and min(len(before[key]), len(after[key])) >= FEWEST]
    for arm, cell in common:
        others = tuple(name for name, where in common if where == cell and name != arm)
        taken = correction_by(others, cell, after, before)
        found = difference(after[arm, cell][:, None], before[arm, cell][:, None], taken, SILENT)
        yield float(found.centre[0]) ** 2, float(found.error[0]) ** 2

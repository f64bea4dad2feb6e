"""Which cells of a sitting another process may still decide: as in a comparison, one that has its verdict is measured no more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from store.runs.run import Run
from store.verdicts.comparison import Label
from tests.bench.sittings.judge import PROFILE, Judged, findings_of
from tests.bench.sittings.sitting import sitting_of
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import reached


def staying(run: Run) -> frozenset[str]:
    """All until the first look. At each look those leave of which every comparison has its verdict; a slowdown within the margin never
    has one, so that cells which are slowed stay to the last."""
    looks = reached(rule_for(PROFILE), len(run.race))
    if not looks:
        return frozenset(weighted.cell.name for weighted in run.cells)
    found = findings_of(sitting_of(replace(run, rounds=run.race[: looks[-1]]), ()))
    return frozenset(_open(cell for each in found for cells in each.by_share.values() for cell in cells))


def _open(cells: Iterable[Judged]) -> Iterable[str]:
    return (cell.cell for cell in cells if cell.label in (None, Label.INCONCLUSIVE))

"""docs/upgrades.svg: decode time over FlashInfer's versions, each held against the first. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reports.course_plot import draw
from store.comparisons.side_by_side import SideBySide
from tests.bench.upgrades.measure import is_oracle
from tests.bench.upgrades.score import upgrade_of
from tuner.past.course import course_of
from tuner.past.recorded_points import names_in, points_in

PICTURE = Path(__file__).parents[3] / "docs" / "upgrades.svg"
DISTRIBUTION, CELL = "flashinfer-python", "decode-64"


def plotted(rows: Sequence[SideBySide]) -> bytes:
    """Of the contests in which FlashInfer moved; there is at least one. Raises ImportError without matplotlib."""
    chosen = [each for each in rows if not is_oracle(each) and DISTRIBUTION in {what for what, _, _ in upgrade_of(each)}]
    arms, _ = names_in(chosen)
    found = ((arm, points_in(chosen, arm, CELL)) for arm in arms)
    return draw([course_of(arm, CELL, points, DISTRIBUTION) for arm, points in found if points], "svg")

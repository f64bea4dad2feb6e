"""What was to be seen on hardware, and how often it was: every sitting counts, with all its cells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backends.anchored import KNOWN_WITHIN
from backends.timing.ways import AGREE
from store.verdicts.comparison import Label
from tests.bench.sittings.judge import Findings, Judged
from tests.bench.sittings.noise import CellNoise
from tests.bench.sittings.occasions import Occasions
from tests.bench.sittings.ranking import Repeat
from tests.bench.sittings.sitting import Sitting
from tests.bench.statistics.row import Row

OFF_POINTS = 0.7
CALM = 0.008  # sigma_0 of a cell
EQUIVALENT, CALM_CELLS, REPEATED, FALSE_ALARM = 0.95, 0.9, 19 / 20, 1 / 60
CHANGES = (Label.REGRESSED, Label.IMPROVED)
HOW = (("replayed", False), ("launched one by one", True))  # as the engine runs the cells


@dataclass(frozen=True)
class Evidence:
    """``sittings`` are those that were judged."""

    findings: tuple[Findings, ...]
    noise: tuple[CellNoise, ...]
    repeats: tuple[Repeat, ...]
    occasions: tuple[Occasions, ...]
    sittings: tuple[Sitting, ...]


def claims(evidence: Evidence) -> Iterator[Row]:
    """``of`` is 0 where nothing of the kind was measured yet."""
    yield from _unchanged(evidence.findings)
    yield from _slowed(evidence.findings)
    yield from _timing(evidence.sittings)
    yield from _noise(evidence.noise)
    again = _hits(evidence.repeats, lambda repeat: repeat.overlapping)
    yield Row("H9", "the best arms again among the best", "cell by cell, two sittings of a board", REPEATED, 1, *again)


def _unchanged(findings: Sequence[Findings]) -> Iterator[Row]:
    for where, launched in HOW:
        cells = [cell for cell in _cells(findings, 0.0) if cell.launched is launched]
        yield Row("H1", "unchanged, called regressed or improved", where, 0, 0, *_hits(cells, lambda cell: cell.label in CHANGES))
        yield Row("H2", "unchanged, called equivalent", where, EQUIVALENT, 1, *_hits(cells, lambda cell: cell.label is Label.EQUIVALENT))
    sittings = [each.by_share[0.0] for each in findings if 0.0 in each.by_share]
    yield Row("H2", "sitting with 95 % of its cells called equivalent", "replayed or not", 1, 1, *_hits(sittings, _mostly_equivalent))


def _mostly_equivalent(cells: Sequence[Judged]) -> bool:
    return sum(cell.label is Label.EQUIVALENT for cell in cells) >= EQUIVALENT * len(cells)


def _slowed(findings: Sequence[Findings]) -> Iterator[Row]:
    for share, claim, low, high in ((0.05, "H3", 1, 1), (0.1, "H3", 1, 1), (0.02, "H4", 0, FALSE_ALARM)):
        cells, what = _cells(findings, share), f"{_signed(share)} called regressed"
        yield Row(claim, what, "a sitting's slowed cells at once", low, high, *_hits(cells, lambda cell: cell.label is Label.REGRESSED))
        yield Row(claim, what, "one cell slowed, the others not", low, high, *_hits(cells, lambda cell: cell.alone is Label.REGRESSED))
    for share in (0.02, 0.05, 0.1):
        what, found = f"size of {_signed(share)} within {OFF_POINTS} points", _hits(_cells(findings, share), _is_sized)
        yield Row("H5", what, "mean of the sitting's processes", 1, 1, *found)


def _is_sized(cell: Judged) -> bool:
    return cell.off_points is not None and cell.off_points <= OFF_POINTS


def _timing(sittings: Sequence[Sitting]) -> Iterator[Row]:
    known = [each.measured_of_known for sitting in sittings for each in sitting.anchors if each.measured_of_known is not None]
    exact = _hits(known, lambda ratio: abs(ratio - 1) <= KNOWN_WITHIN)
    yield Row("H6", "kernel of known duration, measured within 0.5 %", "before and after a sitting", 1, 1, *exact)
    for what, field in (("over twice as many pools", "rotation"), ("a launch more, in a graph of twice as many", "slope")):
        ratios = [getattr(each.soundness, field) for sitting in sittings for each in sitting.sound]
        agreed = _hits([ratio for ratio in ratios if ratio is not None], lambda ratio: abs(ratio - 1) <= AGREE)
        yield Row("H7", f"{what}: the same within 1 %", "probe of a cell", 1, 1, *agreed)


def _noise(noise: Sequence[CellNoise]) -> Iterator[Row]:
    for where, launched in HOW:
        calm = _hits([each for each in noise if each.launched is launched], lambda each: each.sigma_0 <= CALM)
        yield Row("H8", "cell with sigma_0 of at most 0.8 %", where, CALM_CELLS, 1, *calm)


def _cells(findings: Iterable[Findings], share: float) -> list[Judged]:
    return [cell for each in findings for cell in each.by_share.get(share, ())]


def _hits(cells: Sequence[Any], seen: Callable[[Any], bool]) -> tuple[int, int]:
    return sum(map(seen, cells)), len(cells)


def _signed(share: float) -> str:
    return f"+{100 * share:.0f} %"

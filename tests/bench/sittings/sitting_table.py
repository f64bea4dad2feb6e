"""Sitting by sitting, and every cell of which something else was said than should be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase

from reports import numbers
from reports.page import Table, markdown_table
from store.verdicts.comparison import Label
from tests.bench.sittings.claims import CHANGES, OFF_POINTS
from tests.bench.sittings.judge import Findings, Judged
from tests.bench.sittings.measure import SLOWED
from tests.bench.sittings.sitting import Sitting

INTRODUCTION = """\
## Sittings

How many cells were called so; in brackets the worst error of a size, in percentage points.
"""
FOUND = 0.05  # slowed by so much or more, a cell is to be called regressed


def sitting_table(findings: Sequence[Findings]) -> str:
    if not findings:
        return f"{INTRODUCTION}\nNone yet.\n"
    letters = board_letters(each.sitting for each in findings)
    slowed = (f"+{100 * share:.0f} %: regressed" for share in SLOWED)
    unchanged = ("unchanged: equivalent", "regressed or improved")
    header = ("begun (UTC)", "board", "arm", "processes", "cells", *unchanged, *slowed, "sigma_0")
    return f"{INTRODUCTION}\n{markdown_table(Table(header, tuple(_line(each, letters) for each in findings)))}\n"


def board_letters(sittings: Iterable[Sitting]) -> dict[str, str]:
    """By when they were first sat at; after Z comes AA."""
    boards = dict.fromkeys(each.board for each in sorted(sittings, key=lambda each: each.created))
    return {board: ascii_uppercase[place % 26] * (1 + place // 26) for place, board in enumerate(boards)}


def _line(found: Findings, letters: dict[str, str]) -> tuple[str, ...]:
    sitting, unchanged = found.sitting, found.by_share.get(0.0, ())
    said = (str(_count(unchanged, Label.EQUIVALENT)), str(sum(_count(unchanged, label) for label in CHANGES)))
    return (
        *(begun(sitting), letters[sitting.board], found.arm.name, str(len(sitting.rounds)), str(len(sitting.cells))),
        *(said if unchanged else ("", "")),
        *(_slowed(found.by_share.get(share, ())) for share in SLOWED),
        "" if found.sigma_0 is None else numbers.percent(found.sigma_0),
    )


def begun(sitting: Sitting) -> str:
    return sitting.created[:16].replace("T", " ")


def _slowed(cells: Sequence[Judged]) -> str:
    off = [cell.off_points for cell in cells if cell.off_points is not None]
    return f"{_count(cells, Label.REGRESSED)} of {len(cells)} ({max(off):.2f})" if off else ""


def _count(cells: Iterable[Judged], label: Label) -> int:
    return sum(cell.label is label for cell in cells)


def miss_table(findings: Sequence[Findings]) -> str:
    title = "## Cells that were not as they should be\n"
    header = ("begun (UTC)", "arm", "cell", "slowed by", "said", "found", "true")
    lines = tuple(_miss(*each) for each in misses(findings))
    return f"{title}\n{markdown_table(Table(header, lines))}\n" if lines else f"{title}\nNone.\n"


def misses(findings: Iterable[Findings]) -> Iterator[tuple[Findings, float, Judged]]:
    for found in findings:
        for share, cells in found.by_share.items():
            yield from ((found, share, cell) for cell in cells if is_missed(share, cell))


def is_missed(share: float, cell: Judged) -> bool:
    """Not called what it is: equivalent unchanged, regressed from `FOUND` on and only then. Or a size that is too far off."""
    if not share:
        return cell.label is not Label.EQUIVALENT
    off = cell.off_points is None or cell.off_points > OFF_POINTS
    return off or (cell.label is Label.REGRESSED) is (share < FOUND)


def _miss(found: Findings, share: float, cell: Judged) -> tuple[str, ...]:
    said = "nothing: not in every process" if cell.label is None else cell.label.value + (f" ({cell.why.value})" if cell.why else "")
    size = "" if cell.verdict is None else _percent(cell.verdict.numbers.estimate)
    true = "" if cell.true is None else _percent(cell.true)
    return begun(found.sitting), found.arm.name, cell.cell, numbers.percent(share), said, size, true


def _percent(ln: float) -> str:
    """Of a ratio's logarithm."""
    return f"{100 * math.expm1(ln):+.2f} %"

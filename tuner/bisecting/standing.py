"""What a comparison with the good release says of another one, on the arms and cells where the bad one is slower. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.outcome_words import ends
from reports.side_by_side import WHY
from reports.verdict_row import interval, place
from store.verdicts.bisection import Standing
from store.verdicts.comparison import CellVerdict, Label, Why
from store.verdicts.version_verdict import Broken, Row, VersionVerdict

Key = tuple[str, str | None]  # arm, cell; None = all its cells together
Word = tuple[Standing, str | None]  # and why it is neither good nor bad
SAME = (Label.EQUIVALENT, Label.IMPROVED)
SPREAD = (None, Why.NOISE, Why.BORDERLINE)  # an interval that is wide, or lies across the margin, holds all the same


@dataclass(frozen=True)
class Fault:
    """What is wrong with a release: where it is slower, and where it runs no more."""

    slower: tuple[Key, ...]
    broken: tuple[Key, ...]

    @property
    def keys(self) -> tuple[Key, ...]:
        return (*self.broken, *self.slower)


def fault_of(verdict: VersionVerdict) -> Fault:
    """Worst first. All cells together count only where no single one is slower."""
    rows = [row for row in verdict.rows if row.verdict.label is Label.REGRESSED and not row.control]
    worst = sorted(rows, key=lambda row: -row.verdict.numbers.estimate)
    cells = tuple((row.arm, row.cell) for row in worst if row.cell is not None)
    whole = tuple((row.arm, row.cell) for row in worst)
    return Fault(cells or whole, tuple((each.arm, each.cell) for each in verdict.broken))


def fault_there(verdict: VersionVerdict, fault: Fault) -> Fault:
    """What of ``fault`` a release has that is bad too."""
    rows, gone = _rows(verdict), _gone(verdict)
    slower = tuple(key for key in fault.slower if key in rows and rows[key].verdict.label is Label.REGRESSED)
    return Fault(slower, tuple(key for key in fault.broken if key in gone))


def standing(verdict: VersionVerdict, fault: Fault) -> Word:
    """Whatever else changed in that release is not asked."""
    rows, gone = _rows(verdict), _gone(verdict)
    if any(key in gone for key in fault.broken) or any(rows[key].verdict.label is Label.REGRESSED for key in fault.slower if key in rows):
        return Standing.BAD, None
    if why := _unmeasured(fault.keys, rows, gone):
        return Standing.SKIPPED, why
    for key in fault.keys:
        if rows[key].verdict.label not in SAME:
            return Standing.OPEN, _open(rows[key])
    return Standing.GOOD, None


def cured(verdict: VersionVerdict, fault: Fault, first_bad: VersionVerdict) -> Word:
    """Whether a later release is rid of ``fault``, which is what ``first_bad`` had: on every row of it surely nearer to the good release
    than to the first bad one, as ratios go. What it is still slower by is then another finding."""
    rows, gone, worst = _rows(verdict), _gone(verdict), _rows(first_bad)
    halfway = {key: worst[key].verdict.numbers.estimate / 2 for key in fault.slower}
    regressed = {key: rows[key].verdict for key in fault.keys if key in rows and rows[key].verdict.label is Label.REGRESSED}
    if any(key in gone for key in fault.broken) or any(found.numbers.low > halfway.get(key, 0.0) for key, found in regressed.items()):
        return Standing.BAD, None
    if why := _unmeasured(fault.keys, rows, gone):
        return Standing.SKIPPED, why
    for key in fault.keys:
        if not _nearer(rows[key].verdict, halfway.get(key)):
            return Standing.OPEN, _between(rows[key]) if rows[key].verdict.why in SPREAD else _open(rows[key])
    return (Standing.CURED if fault_of(verdict).slower else Standing.GOOD), None


def _nearer(found: CellVerdict, halfway: float | None) -> bool:
    """To the good release, surely; ``halfway`` = ln of the ratio, None = the arm ran no more in the bad one."""
    return found.label in SAME or (halfway is not None and found.why in SPREAD and found.numbers.high < halfway)


def _rows(verdict: VersionVerdict) -> dict[Key, Row]:
    return {(row.arm, row.cell): row for row in verdict.rows}


def _gone(verdict: VersionVerdict) -> dict[Key, Broken]:
    return {(each.arm, each.cell): each for each in verdict.broken}


def _open(row: Row) -> str:
    return f"{place(row)} is {row.verdict.label.value}: {WHY[row.verdict.why or Why.OPEN]}"


def _between(row: Row) -> str:
    return f"{place(row)} takes {interval(row)} times as long, which is not surely nearer to the good release nor to the first bad one"


def _unmeasured(keys: Iterable[Key], rows: Mapping[Key, Row], gone: Mapping[Key, Broken]) -> str | None:
    for arm, cell in keys:
        where = f"{arm} on {cell or 'all cells'}"
        if found := gone.get((arm, cell)):
            return f"{where} {ends(found.outcome)}: {found.detail}"
        if (arm, cell) not in rows:
            return f"{where} was not measured on both sides"
    return None

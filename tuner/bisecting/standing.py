"""What a comparison with the good release says of another one, on the arms and cells where the bad one is slower. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.side_by_side import WHY
from store.bisection import Standing
from store.comparison import CellVerdict, Label, Why
from store.version_verdict import Broken, VersionVerdict

Key = tuple[str, str | None]  # arm, cell; None = all its cells together
Word = tuple[Standing, str | None]  # and why it is neither good nor bad


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


def standing(verdict: VersionVerdict, fault: Fault) -> Word:
    """Whatever else changed in that release is not asked."""
    rows: dict[Key, CellVerdict] = {(row.arm, row.cell): row.verdict for row in verdict.rows}
    gone: dict[Key, Broken] = {(each.arm, each.cell): each for each in verdict.broken}
    if any(key in gone for key in fault.broken) or any(rows[key].label is Label.REGRESSED for key in fault.slower if key in rows):
        return Standing.BAD, None
    if why := _unmeasured(fault.keys, rows, gone):
        return Standing.SKIPPED, why
    for arm, cell in fault.keys:
        found = rows[arm, cell]
        if found.label not in (Label.EQUIVALENT, Label.IMPROVED):
            return Standing.OPEN, f"{arm} on {cell or 'all cells'} is {found.label.value}: {WHY[found.why or Why.OPEN]}"
    return Standing.GOOD, None


def _unmeasured(keys: Iterable[Key], rows: Mapping[Key, CellVerdict], gone: Mapping[Key, Broken]) -> str | None:
    for arm, cell in keys:
        where = f"{arm} on {cell or 'all cells'}"
        if found := gone.get((arm, cell)):
            return f"{where} is {found.outcome.value}: {found.detail}"
        if (arm, cell) not in rows:
            return f"{where} was not measured on both sides"
    return None

"""Recorded faults that explain what a comparison found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from store.verdicts.verdict import Bearing, KnownIssue
from store.verdicts.version_verdict import Row
from tuner.unmeasured.regressions import Regression, affected, concerns, known_issue, reaches, release_of


def known_issues(measured: SideBySide, rows: Iterable[Row], known: Iterable[Regression]) -> Iterator[KnownIssue]:
    """Those whose range the candidate lies in and the baseline does not, and that are on the path of a row that regressed.

    Which releases of an engine take that path is no condition here: the arm took it, and was slower.
    """
    regressed = [row for row in rows if row.verdict.label is Label.REGRESSED and not row.control]
    for entry in known:
        if _came(entry, measured) and any(_on_the_path(entry, measured, row) for row in regressed):
            calls = f"as {entry.engine}{entry.engine_versions} calls it" if entry.engine_versions else f"under {entry.engine}"
            yield known_issue(entry, measured.candidate.environment, Bearing.SERVED, calls)


def _came(entry: Regression, measured: SideBySide) -> bool:
    old, new = (release_of(run.environment, entry.distribution) for run in (measured.baseline, measured.candidate))
    return affected(new, entry.versions) is True and affected(old, entry.versions) is False and reaches(entry, measured.candidate)


def _on_the_path(entry: Regression, measured: SideBySide, row: Row) -> bool:
    phases = {weighted.cell.name: weighted.cell.phase.value for weighted in measured.candidate.cells}
    in_phase = not entry.phases or phases.get(row.cell or "") in entry.phases
    return in_phase and any(arm.name == row.arm and concerns(entry, arm) for arm in measured.candidate.arms)

"""What is known of an upgrade that made attention slower, and what to do about it, the cheapest first."""

from __future__ import annotations

from collections.abc import Iterator

from reports.dispatch import unchanged_twin
from store.runs.run import Run
from store.verdicts.comparison import Label
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import VersionVerdict

WAY_OUT = "way out: "


def sentences(baseline: Run, verdict: VersionVerdict) -> Iterator[str]:
    """Nothing where nothing regressed. Recorded faults come first, then ways out, then links."""
    slow = {(row.arm, row.cell) for row in verdict.rows if row.verdict.label is Label.REGRESSED and not row.control}
    slow |= {(each.arm, each.cell) for each in verdict.broken}
    yield from (f"known issue: {issue.what}: {issue.why}" for issue in verdict.issues)
    yield from (f"{WAY_OUT}{way}" for issue in verdict.issues for way in issue.ways_out)
    yield from (f"{WAY_OUT}{way}" for way in (*_twins(verdict, slow), *_constraints(baseline, verdict, {arm for arm, _ in slow})))
    yield from (f"source: {source}" for issue in verdict.issues for source in issue.sources)


def _twins(verdict: VersionVerdict, slow: set[tuple[str, str | None]]) -> Iterator[str]:
    """Arms that ask by name for what a slower one was, and did not change."""
    twins = [unchanged_twin(each, verdict.dispatches) for each in verdict.dispatches if (each.arm, each.cell) in slow]
    for arm, path in dict.fromkeys((twin.arm, twin.after) for twin in twins if twin):
        if arm not in {name for name, _ in slow}:
            yield f"ask for {path} as {arm} does, whose machine code is the same on both sides"


def _constraints(baseline: Run, verdict: VersionVerdict, slow: set[str]) -> Iterator[str]:
    names = {each.name for each in baseline.environment.distributions}
    held = [f"{change.what}=={change.before}" for change in verdict.moved if change.what in names and _can_be_held(change, slow)]
    if held:
        yield f"hold the baseline, in a constraints file for pip or uv: {' '.join(held)}"


def _can_be_held(change: Change, slow: set[str]) -> bool:
    """It touches what got slower, is on both sides, and by a version alone, which an index knows."""
    touches = bool(slow) and (change.touches == ("every arm",) or bool(slow.intersection(change.touches)))
    return touches and change.before is not None and change.after is not None and " " not in change.before

"""A recorded comparison told as it happened: what had been pinned, the upgrade pair by pair, and what cures it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reports import numbers, verdict_row, wording
from reports.dispatch import unchanged_twin
from reports.page import Table, clean
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Row, VersionVerdict

ORDER = (Label.REGRESSED, Label.IMPROVED, Label.EQUIVALENT, Label.INCONCLUSIVE)
STILL = "open"  # more pairs may settle it
ONE_PAIR = "one pair of processes says nothing about how sure it is"


def recorded(measured: SideBySide) -> str:
    """What must be said before any of its numbers."""
    return f"Recorded, not measured here: {clean(wording.title(measured.baseline))}, comparison {measured.id} of {measured.created[:10]}"


def moved(verdict: VersionVerdict) -> str:
    """What was exchanged: "flashinfer-python 0.5.3 -> 0.6.1"."""
    return ", ".join(f"{change.what} {change.before or 'absent'} -> {change.after or 'absent'}" for change in verdict.moved)


def pinned(run: Run, arm: str) -> str:
    """What the pinned arm did alone in the baseline."""
    trials = [trial for trial in run.trials if trial.arm == arm and trial.cost]
    times = ", ".join(f"{trial.cell} {numbers.microseconds(trial.cost.device_us)}" for trial in trials if trial.cost)
    paths = ", ".join(dict.fromkeys(trial.identity.resolved for trial in trials if trial.identity))
    versions = ", ".join(f"{each.name} {each.version}" for each in run.environment.distributions)
    return f"pinned: {arm} ({paths}), on {versions}: {times}"


def after_pairs(verdict: VersionVerdict | None) -> str:
    """How many cells of each arm have which label by then; None: a verdict takes two pairs."""
    if verdict is None:
        return ONE_PAIR
    arms = dict.fromkeys(row.arm for row in verdict.rows)
    return "; ".join(f"{arm}: {_labels(verdict, arm, STILL)}" for arm in arms)


def cure(verdict: VersionVerdict) -> Iterator[str]:
    """The arm that asks by name for what the slower one was: what became of it on the same pairs of processes."""
    slow = {row.arm for row in verdict.rows if row.verdict.label is Label.REGRESSED}
    twins = [unchanged_twin(each, verdict.dispatches) for each in verdict.dispatches if each.arm in slow]
    for arm, path in dict.fromkeys((twin.arm, twin.after) for twin in twins if twin):
        changes = [row.verdict.numbers.estimate for row in verdict.rows if row.arm == arm and row.cell]
        far = numbers.percent(max(map(abs, changes)))
        yield f"the cure: {arm} asks for {path} by name, and its machine code is the same on both sides."
        yield f"Same processes, same cells: {_labels(verdict, arm, 'inconclusive')}; no estimate of a change is over {far}."


def both_ways(arm: str, regressed: VersionVerdict, cured: VersionVerdict) -> Table:
    """Of ``arm``, from the same baseline: what the upgrade did to it, and what a later one does."""
    versions = [verdict.moved[0] for verdict in (regressed, cured)]
    names = (versions[0].before or "", *(name for change in versions for name in (change.after or "", f"{change.after} / {change.before}")))
    mine, theirs = (_by_cell(verdict, arm) for verdict in (regressed, cured))
    rows = (
        (cell or "all cells, ms per 1000 tokens", verdict_row.times(row)[0], *_became(row), *_became(theirs[cell]))
        for cell, row in mine.items()
        if cell in theirs
    )
    return Table(("cell", *names), tuple(rows))


def _by_cell(verdict: VersionVerdict, arm: str) -> dict[str | None, Row]:
    return {row.cell: row for row in verdict.rows if row.arm == arm}


def _became(row: Row) -> tuple[str, str]:
    return verdict_row.times(row)[1], f"{verdict_row.interval(row)} {row.verdict.label.value}"


def _labels(verdict: VersionVerdict, arm: str, undecided: str) -> str:
    given = Counter(row.verdict.label for row in verdict.rows if row.arm == arm and row.cell)
    return ", ".join(f"{given[label]} {undecided if label is Label.INCONCLUSIVE else label.value}" for label in ORDER if given[label])

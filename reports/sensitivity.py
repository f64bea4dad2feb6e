"""How the finalists of a race stand under conditions that it leaves out."""

from __future__ import annotations

from reports import numbers, wording
from reports.page import Section, Table
from store.decision import Decision
from store.revisit import Condition, Sensitivity
from store.runs.run import Run

HEADER = ("condition", "arm", "as usual", "then", "to the first, as usual", "then")


def sentence(found: Sensitivity) -> str:
    """The answer on one line, with its numbers where the order turns."""
    where = f"{found.cell}, {wording.count(found.processes, 'fresh process', 'fresh processes')}"
    if found.turned is None:
        return f"the ranking holds {_when(found)} ({where})"
    arm, rival = found.turned
    usual, there = {name: us for name, us, _ in found.times}, {name: us for name, _, us in found.times}
    ratios = f"{numbers.ratio(there[rival] / there[arm])} of the time of {arm}, as usual {numbers.ratio(usual[rival] / usual[arm])}"
    if found.condition is Condition.RANDOM_PAGES and found.pick_changes:
        won = numbers.percent(1 - there[rival] / there[arm])
        return f"layout-sensitive: under random pages {rival} would win by {won} ({ratios}; {where})"
    return f"the ranking does not hold {_when(found)}: {rival} then takes {ratios} ({where})"


def line(run: Run, decision: Decision) -> str:
    """Where the ranking holds, or why that was not tried; empty where nobody asked, or where it is said as a caution."""
    wanted = run.scenario.measure.sensitivity
    if wanted and not decision.sensitivity and not _failures(run):
        return _not_tried(run)
    return "; ".join(sentence(found) for found in decision.sensitivity if found.turned is None)


def section(run: Run, decision: Decision) -> Section | None:
    """None where nobody asked."""
    wanted = run.scenario.measure.sensitivity
    if not wanted:
        return None
    title = "Under other conditions"
    if not decision.sensitivity:
        return Section(title, (f"{_capital(_not_tried(run))}.",))
    rows = tuple(row for found in decision.sensitivity for row in _rows(found))
    said = (sentence(found) for found in decision.sensitivity)
    return Section(title, (*(f"{_capital(each)}." for each in said), Table(HEADER, rows)))


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _not_tried(run: Run) -> str:
    why = next(iter(_failures(run)), "no two arms were left that are served in one way and near each other, or no time was")
    return f"not tried ({', '.join(run.scenario.measure.sensitivity)}): {why}"


def _failures(run: Run) -> list[str]:
    return [revisit.failed for revisit in run.revisits if revisit.failed is not None]


def _when(found: Sensitivity) -> str:
    if found.condition is Condition.RANDOM_PAGES:
        return "under random pages"
    return f"when the layer's weights ({numbers.memory(found.stream_bytes)}) stream between two calls"


def _rows(found: Sensitivity) -> tuple[tuple[str, ...], ...]:
    _, usual_first, there_first = found.times[0]
    return tuple(
        (
            *(found.condition.value.replace("_", " "), arm),
            *(numbers.microseconds(us) for us in (usual, there)),
            *(numbers.ratio(ratio) for ratio in (usual / usual_first, there / there_first)),
        )
        for arm, usual, there in found.times
    )

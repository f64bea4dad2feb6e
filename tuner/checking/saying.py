"""The answer in a sentence. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from reports import numbers, wording
from reports.outcome_words import ends
from reports.side_by_side import WHY, worst
from store.decision import Decision
from store.runs.run import Run
from store.verdicts.comparison import Label, Why
from store.verdicts.version_verdict import Broken, Dispatch, Row

RIVALS_ALONE = "what is served launches what it launched, only what the pin was decided against changed"


def untouched(moved: Iterable[str], otherwise: str) -> str:
    names = ", ".join(moved)
    return f"{names} changed and touches no arm the pin rests on: it holds as measured" if names else otherwise


def same_code(found: Iterable[Dispatch]) -> str:
    arms = ", ".join(dict.fromkeys(each.arm for each in found))
    return f"same machine code: every call of {arms} launches what it launched when the pin was made"


def gone(found: Sequence[Broken]) -> str:
    """Of what is served and is not to be had any more."""
    first, more = found[0], f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{first.arm} on {first.cell} was measured when the pin was made and {ends(first.outcome)} now{more}: {first.detail}"


def of_rows(label: Label, rows: Sequence[Row], ground: str) -> str:
    """``rows`` of what is served, the objective among them."""
    alike, all_of_them = [row for row in rows if row.verdict.label is label], wording.count(len(rows), "comparison")
    if not alike:
        return f"no time of what is served can be compared, {ground}"
    if label is Label.EQUIVALENT:
        margin = numbers.percent(math.expm1(alike[0].verdict.numbers.margin))
        return f"no time of what is served changed by {margin}, {ground} ({all_of_them})"
    if label is Label.INCONCLUSIVE:
        why = WHY[alike[0].verdict.why or Why.NOISE]
        return f"{len(alike)} of {all_of_them} not to be told, {ground}: {why}; the farthest apart: {worst(alike)}"
    return f"{worst(alike)}, {ground}; {len(alike)} of {all_of_them} {label.value}"


def overtaken(said: str, decided: Decision | None) -> str:
    pick = wording.pair(decided.pick) if decided and decided.pick else "another arm"
    return f"{said}; but {pick} is surely faster by now"


def scope(then: Run) -> str:
    cells = ", ".join(weighted.cell.name for weighted in then.cells)
    return f"{wording.title(then)}, cells {cells}: nothing is said of other shapes, batches and contexts"

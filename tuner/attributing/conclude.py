"""From what each change does alone to what is to be blamed. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from store.verdicts.attribution import MOST, Alone, Attribution, Finding
from store.verdicts.bisection import Standing
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import VersionVerdict
from tuner.bisecting.standing import fault_of
from tuner.errors import OK, Incomplete


def concluded(verdict: VersionVerdict, alone: Sequence[Alone], observed_loss: float | None) -> Attribution:
    """``verdict`` on everything moved at once; ``alone`` were tried where that regressed and there is more than one."""
    slower = verdict.label is Label.REGRESSED
    most = most_of(verdict)
    finding = _slower(alone) if slower else _not_slower(verdict, most, observed_loss)
    return Attribution(
        finding=finding,
        alone=tuple(alone),
        causes=tuple(change for each in alone if _blamed(each, finding) for change in each.changes),
        fault=fault_of(verdict).keys if slower else (),
        comparisons=len(verdict.rows),
        observed_loss=observed_loss,
        most=most,
        exit_code=verdict.exit_code if slower else Incomplete.exit_code if finding is Finding.OPEN else OK,
    )


def most_of(verdict: VersionVerdict) -> float | None:
    """A fraction of throughput: what the slowest end of any interval costs a step that is nothing but that call."""
    worst = max((row.verdict.numbers.high for row in verdict.rows), default=None)
    return None if worst is None or verdict.broken or verdict.shifted else max(0.0, -math.expm1(-worst))


def _slower(alone: Sequence[Alone]) -> Finding:
    standings = [each.standing for each in alone]
    if not alone:
        return Finding.TOGETHER
    if standings == [None]:
        return Finding.ONLY
    if Standing.BAD in standings:
        return Finding.CAUSE
    return Finding.TOGETHER if set(standings) == {Standing.GOOD} else Finding.NARROWED


def _not_slower(verdict: VersionVerdict, most: float | None, observed_loss: float | None) -> Finding:
    if verdict.label not in (Label.EQUIVALENT, Label.IMPROVED):
        return Finding.OPEN
    if observed_loss is None:
        return Finding.NOTHING
    return Finding.NOT_ATTENTION if most is not None and most < MOST * observed_loss else Finding.OPEN


def _blamed(each: Alone, finding: Finding) -> bool:
    if finding is Finding.NARROWED:
        return each.standing is not Standing.GOOD
    return finding is Finding.ONLY or (finding is Finding.CAUSE and each.standing is Standing.BAD)

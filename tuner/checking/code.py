"""What code the arms launch today, beside what they launched when the pin was made. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from backends.outcome import Outcome
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.checked import Glance
from store.verdicts.version_verdict import Broken, Dispatch
from tuner.checking.resting import Resting, Seat, cells_of
from tuner.comparing import dispatch
from tuner.racing.sieve import measured_trials


def launched(then: Run, now: Run) -> tuple[Dispatch, ...]:
    """Of every arm and cell that was measured alone then and now."""
    return dispatch.dispatches(_beside(then, now))


def of_seats(found: Iterable[Dispatch], then: Run, seats: Iterable[Seat]) -> tuple[Dispatch, ...]:
    """Of each arm those on the cells of its phase."""
    keys = {(arm, cell) for phase, arm in seats for cell in cells_of(then, phase)}
    return tuple(each for each in found if (each.arm, each.cell) in keys)


def is_same(each: Dispatch) -> bool:
    """The same launches in the same order, of kernels that the driver knows to be the same."""
    return each.kernels is None and each.code is True and each.before == each.after


def no_other(each: Dispatch) -> bool:
    """As far as the driver tells."""
    return each.kernels is None and each.code is not False and each.before == each.after


def lost(then: Run, now: Run, rests: Resting) -> tuple[Broken, ...]:
    """What the pin rests on, was measured when it was made and is not to be had any more."""
    seats = {(arm, cell) for phase, arm in rests.under for cell in cells_of(then, phase)}
    failed = tuple(each for each in dispatch.broken(_beside(then, now)) if (each.arm, each.cell) in seats)
    there = {arm.name for arm in now.arms}
    gone = sorted(key for key in measured_trials(then.trials) if key in seats and key[0] not in there)
    return (*failed, *(Broken(arm, cell, Outcome.REFUSED, _why_not(now, then, arm)) for arm, cell in gone))


def glance(then: Run, now: Run, found: Iterable[Dispatch]) -> Glance | None:
    """The cell of ``found`` that counts most, as its probe took it then and now."""
    old, new = measured_trials(then.trials), measured_trials(now.trials)
    weights = {weighted.cell.name: weighted.calls_per_1000_tokens * weighted.layers for weighted in then.cells}
    for each in sorted(found, key=lambda each: -weights[each.cell]):
        before, after = old[each.arm, each.cell].cost, new[each.arm, each.cell].cost
        if before and after:
            return Glance(each.arm, each.cell, before.device_us, after.device_us)
    return None


def _why_not(now: Run, then: Run, arm: str) -> str:
    backend = next(each.backend for each in then.arms if each.name == arm)
    for exclusion in now.exclusions:
        if exclusion.backend == backend and exclusion.reasons:
            reason = exclusion.reasons[0]
            return f"it is left out today: {reason.asked}; {reason.remedy}"
    return "it is no arm of today's plan; attnpin plan lists those that are"


def _beside(then: Run, now: Run) -> SideBySide:
    """The two runs as the two sides of one comparison, which they are no rounds of."""
    return SideBySide("", "", now.status, now.created, now.command, ("the pin's evidence", "present"), then, now, together=False)

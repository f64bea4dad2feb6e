"""What of a decision hangs on the traffic, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from backends.cell import Phase
from reports import numbers, wording
from reports.page import Section
from store.decision import Between, Decision, Resampled, Robustness
from store.runs.run import Run

HOUR_S = 3600.0


def section(run: Run, decision: Decision) -> Section | None:
    """None where nothing was compared with the default."""
    said = [sentence for found in decision.robustness for sentence in _sentences(found)]
    return Section("Under other traffic", tuple(wording.by_backend(sentence, run.arms) for sentence in said)) if said else None


def _sentences(found: Robustness) -> Iterator[str]:
    yield _weights(found)
    yield _flip(found)
    yield from _hours(found.resampled)
    yield from map(_between, found.between)


def _weights(found: Robustness) -> str:
    where, new, old = _sides(found)
    said = f"{where}{new} / {old} is {numbers.ratio(found.ratio)}"
    if found.low_cell == found.high_cell:
        return f"{said} on {found.low_cell}, the only cell there"
    ends = f"{numbers.ratio(found.low)} (all of it on {found.low_cell}) to {numbers.ratio(found.high)} (all on {found.high_cell})"
    return f"{said} here, and {ends} whatever the weights of the cells"


def _sides(found: Robustness) -> tuple[str, str, str]:
    """The phase, where they differ in one alone, and who is compared in it."""
    different = [phase for phase in Phase if found.new.of(phase) != found.old.of(phase)]
    if len(different) > 1:
        return "", wording.pair(found.new), wording.pair(found.old)
    return f"{different[0].value}: ", found.new.of(different[0]), found.old.of(different[0])


def _flip(found: Robustness) -> str:
    """Which traffic would turn the order."""
    where, new, old = _sides(found)
    behind = new if found.ratio > 1 else old
    if found.flip_share is None:
        return f"{where}no weights of these cells put {behind} ahead"
    cells, now, then = ", ".join(found.turning), numbers.percent(found.share), numbers.percent(found.flip_share)
    return f"{where}{behind} is ahead on {cells}, {now} of the attention time here; from {then} on it would be ahead over all"


def _hours(found: Resampled | None) -> Iterator[str]:
    if found is not None:
        block = "hours" if found.block_s == HOUR_S else f"parts of {numbers.seconds(found.block_s)}"
        ends = f"{numbers.ratio(found.low)} to {numbers.ratio(found.high)}"
        yield (
            f"with the {found.blocks} {block} of the log drawn again {found.times} times the ratio is {ends} in 95 % of the draws, and the "
            f"order turns in {numbers.percent(found.turned)} of them"
        )


def _between(found: Between) -> str:
    said = (
        f"between the cells: {found.arm}'s {found.phase.value} times are foretold from the other cells within "
        f"{numbers.percent(found.typical)} (median), at worst {numbers.percent(found.worst)} ({found.worst_cell})"
    )
    return said + (f"; nothing is foretold of {', '.join(found.beyond)}, beyond a factor of 2 of the others" if found.beyond else "")

"""The targets, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reports import numbers
from tests.bench.peers.peers import MUCH
from tests.bench.peers.score import CLEAR, Result, Share

MISSED, FLIPPED = 0.05, 0.01


def targets(found: Sequence[Result], cells: int) -> str:
    """The targets, one by one, whatever came of them."""
    mine = [result for result in found if result.is_ours and result.regrets]
    lines = [line for result in mine for line in _targets(result, cells)]
    return "\n".join(["## Targets", "", *lines, *_races(mine, [result for result in found if not result.is_ours], cells), ""])


def _targets(result: Result, cells: int) -> Iterable[str]:
    worst, much = result.worst or 0.0, numbers.percent(MUCH)
    said = f"{_met(worst <= MUCH)}, the worst is {numbers.percent(worst)}{_on(result, cells)}"
    yield f"- {result.name}: no wrong winner by more than {much}: {said}."
    yield _target(result.name, result.missed, MISSED, f"of winners by {numbers.percent(CLEAR)} or more missed")
    yield _target(result.name, result.flips, FLIPPED, "flips")


def _target(name: str, share: Share | None, most: float, what: str) -> str:
    target = f"- {name}: at most {numbers.percent(most)} {what}"
    if share is None or share.value is None:
        return f"{target}: not measured yet."
    return f"{target}: {_met(share.value <= most)}, {share.seen} of {share.of} ({numbers.percent(share.value)})."


def _met(holds: bool) -> str:
    return "met" if holds else "**missed**"


def _races(mine: Iterable[Result], others: Sequence[Result], cells: int) -> Iterable[str]:
    reached = [result for result in others if result.regrets and (result.worst or 0.0) <= MUCH]
    for result in mine:
        sooner = [other for other in reached if other.held.all_s < result.held.all_s]
        names = "; ".join(f"{name_of(other)} in {numbers.seconds(other.held.all_s)}{_on(other, cells)}" for other in sooner)
        said = f"**missed**: {names}, against {numbers.seconds(result.held.all_s)}{_on(result, cells)}" if sooner else "met"
        yield f"- {result.name}: no peer reaches {numbers.percent(MUCH)} in fewer seconds: {said}."


def _on(result: Result, cells: int) -> str:
    """Where a contestant did not come to all cells."""
    return "" if len(result.regrets) == cells else f" (on {len(result.regrets)} of {cells} cells)"


def name_of(result: Result) -> str:
    return result.name if result.repeats == 1 else f"{result.name}, {result.repeats} times its repetitions"

"""What two pins cannot be compared in, and why. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.diffing.side import Side
from tuner.diffing.times import alike_cells


def uncompared(old: Side, new: Side, board: Sequence[Change]) -> Iterator[str]:
    """A sentence for each."""
    if old.pin.engine != new.pin.engine:
        yield f"flags: those of {old.pin.engine} mean nothing to {new.pin.engine}"
    for word, side in (("older", old), ("newer", new)):
        if side.missing:
            yield f"times and reasons of the default: the {word} pin's evidence is not there ({side.missing})"
    if board:
        was = f"{board[0].what} was {board[0].before} and is {board[0].after}"
        yield f"times: {was}, and those of two kinds of boards say nothing of each other"
    if old.run and new.run:
        yield from _of_runs(old.run, new.run)


def _of_runs(old: Run, new: Run) -> Iterator[str]:
    if old.id == new.id:
        yield "times: both pins are of one run"
    if old.protocol != new.protocol:
        yield f"times: the older ones follow protocol {old.protocol}, the newer ones {new.protocol}"
    alike = alike_cells(old, new)
    other = [weighted.cell.name for weighted in new.cells if weighted.cell.name not in alike]
    gone = [weighted.cell.name for weighted in old.cells if weighted.cell.name not in alike and weighted.cell.name not in other]
    if other:
        yield f"cells that are other ones than before, as their traffic, model or engine's batches are: {', '.join(other)}"
    if gone:
        yield f"cells that are no longer measured: {', '.join(gone)}"
    if old.scenario.decide.objective is not new.scenario.decide.objective:
        yield (
            f"objectives: the older pin was decided by {old.scenario.decide.objective.value}, "
            f"the newer by {new.scenario.decide.objective.value}"
        )


def may_be_timed(old: Side, new: Side, board: Sequence[Change]) -> bool:
    """Whether any time of one says something of the other's."""
    if old.run is None or new.run is None or board or old.pin.engine != new.pin.engine:
        return False
    return old.run.decision is not None and old.run.protocol == new.run.protocol and old.run.id != new.run.id

"""What a server that took a pin serves, from the pin and its evidence. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from store.pins.pin import Pin
from store.runs.run import Run
from store.verdicts.verdict import Served
from tuner.unmeasured.flags import pinned_for
from tuner.unmeasured.regressions import served_pair

REPLAYED = "graph"  # a mode, as runs keep it


@dataclass(frozen=True)
class Expected:
    """``phases``: what a server of the pin's role runs, by name. ``graphs``: whether decode was timed as replayed graphs, None = nothing
    of the pick was timed."""

    pin: Pin
    served: Served
    phases: tuple[str, ...]
    graphs: bool | None


def expected(pin: Pin, run: Run) -> Expected:
    phases = tuple(phase.value for phase in run.scenario.engine.role.phases)
    return Expected(pin, pinned_for(pin, run), phases, _replayed(run))


def _replayed(run: Run) -> bool | None:
    pair = served_pair(run.decision) if run.decision else None
    sides = {each.cell.name: each.cell.phase for each in run.cells if each.cell.generates}
    results = run.decision.cells if run.decision else ()
    timed = [each.mode for each in results if pair and each.cell in sides and each.arm == pair.of(sides[each.cell])]
    return REPLAYED in timed if timed else None

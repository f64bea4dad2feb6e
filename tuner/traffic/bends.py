"""Cells that are added before anything is chosen: where the default's own times bend more between the cells than the others foretell.

A cell stands for steps that differ from it by up to a factor of 2. Where its time is not what the others foretell, the steps around it
are no safe bet either: the part of them that is furthest from it gets a cell of its own. So does that of a cell that counts and that no
other is near enough to foretell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from backends.cell import Cell
from store.plan import Server
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.arithmetic.between import left_out
from tuner.engines.lookup import rules_of
from tuner.new_run import default_arms
from tuner.traffic.loads import MOST_LOADS, load_of, named_steps, spare_steps
from tuner.workload.cells import calls, cell_of
from tuner.workload.reach import unreachable

BENDS = 0.1
COUNTS = 0.2  # of its phase's attention time


def refined(run: Run, server: Server) -> tuple[tuple[WeightedCell, ...], tuple[str, ...]]:
    """The cells of ``run`` with those added that its default's probes ask for, and a sentence for each."""
    cells, notes = run.cells, []
    for name, why in bent(run):
        found = _split(run, server, cells, name)
        if found is not None:
            cells, added = found
            notes.append(f"{added} was added: {why}")
    return cells, tuple(notes)


def bent(run: Run) -> list[tuple[str, str]]:
    """Cells with a spare step that ask for it, and why, the worst first."""
    recorded = run.scenario.traffic.recorded
    if recorded is None:
        return []
    spare, misses, steps = spare_steps(recorded), dict(_misses(run)), named_steps(recorded)
    known = {name: abs(math.expm1(miss)) for name, miss in misses.items() if miss is not None and name in spare}
    found = [
        (name, f"{name} takes {miss:.0%} other than what the cells around it foretell")
        for name, miss in sorted(known.items(), key=lambda item: -item[1])
        if miss > BENDS
    ]
    alone = [name for name, miss in misses.items() if miss is None and name in spare and steps[name].attention_share >= COUNTS]
    return [*found, *((name, f"no other cell is near enough to foretell {name}") for name in alone)]


def _misses(run: Run) -> Iterator[tuple[str, float | None]]:
    """ln(measured / foretold) by the name of the load, of the model's first layer kind."""
    default = default_arms(run.default, run.arms)
    times = {(trial.arm, trial.cell): trial.cost.device_us for trial in run.trials if trial.cost is not None}
    for phase, arm in default.items():
        cells = [one.cell for one in run.cells if one.cell.phase is phase and not one.is_guard and (arm, one.cell.name) in times]
        first = [cell for cell in cells if cell.layer.name == cells[0].layer.name]
        timed: Mapping[Cell, float] = {cell: math.log(times[arm, cell.name]) for cell in first}
        yield from ((_load_name(run, cell), None if miss is None else -miss) for cell, miss in left_out(timed).items())


def _split(run: Run, server: Server, cells: tuple[WeightedCell, ...], name: str) -> tuple[tuple[WeightedCell, ...], str] | None:
    """``cells`` with the spare step of ``name`` among them, once a layer kind; None where it is there, too much, or out of reach."""
    traffic, kinds = run.scenario.traffic, rules_of(run.scenario).rank_layers(run.scenario)
    assert traffic.recorded is not None
    part = spare_steps(traffic.recorded)[name]
    load = load_of(part, named_steps(traffic.recorded)[part], traffic.shared_prefix_tokens)
    several, mine = len(kinds) > 1, [one for one in cells if one.cell.phase is load.phase and not one.is_guard]
    if len(mine) >= MOST_LOADS[load.phase] * len(kinds) or unreachable(load, server, run.default.page_size):
        return None
    new = [
        WeightedCell(cell_of(run.scenario, server, load, kind, several), kind.layers, calls(load, run.scenario, server), load.share)
        for kind in kinds
    ]
    if {one.cell.name for one in new} & {one.cell.name for one in cells}:
        return None
    return (*(_without(one, new[0]) if _load_name(run, one.cell) == name else one for one in cells), *new), part


def _without(whole: WeightedCell, part: WeightedCell) -> WeightedCell:
    """Never to nothing: a cell without weight would be a guard."""
    left = max(whole.calls_per_1000_tokens - part.calls_per_1000_tokens, 1e-9)
    return replace(whole, calls_per_1000_tokens=left, token_share=max(whole.token_share - part.token_share, 0.0))


def _load_name(run: Run, cell: Cell) -> str:
    several = len(run.scenario.model.layers) > 1
    return cell.name.removesuffix(f"-{cell.layer.name}") if several else cell.name

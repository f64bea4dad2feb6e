"""Where the time of a run went: `python -m tests.bench.process_time attnpin.db`.

For every run its seconds by phase, builds apart, and two shares of what was spent in visits or in the least warm-up that the protocol
asks for: of the time its rounds' processes lived, and of all the time from the first word to the last.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from backends.measured import Round
from backends.timing.warmup import for_process
from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from store.runs.run import Run

BUILD, NOBODYS = "build", "waiting"


def main(databases: Iterable[str]) -> None:
    for name in databases:
        store = open_store(f"sqlite:///{name}")
        for summary in list_runs(store):
            print("\n".join(lines(load_run(store, summary.id))))


def lines(run: Run) -> Iterator[str]:
    wall = {phase: seconds for phase, seconds in run.wall_seconds if phase not in (BUILD, NOBODYS)}
    counts = f"{len(run.arms)} arms, {len(run.cells)} cells, {len(run.rounds)} rounds"
    yield f"{run.id}: {run.scenario.model.name}, {run.scenario.traffic.name}, {counts}"
    yield f"  {sum(wall.values()):.0f} s: " + ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in wall.items())
    well_spent = [well_spent_s(run, measured) for measured in run.rounds]
    lived = [sum(seconds for phase, seconds in measured.seconds if phase != BUILD) for measured in run.rounds]
    for measured, useful, alive in zip(run.rounds, well_spent, lived):
        yield f"  round {measured.index + 1}: {useful:.1f} of {alive:.1f} s, {useful / alive:.0%}"
    if lived:
        of_rounds, of_all = sum(well_spent) / sum(lived), sum(well_spent) / sum(wall.values())
        yield f"  in visits or the least warm-up: {of_rounds:.0%} of rounds, {of_all:.0%} of all"


def well_spent_s(run: Run, measured: Round) -> float:
    spent, cells = dict(measured.seconds), {weighted.cell.name: weighted.cell for weighted in run.cells}
    timings = for_process(run.scenario.measure.timing, [cells[each.cell] for each in measured.cells], run.environment.board.kind)
    least_s = sum(timings[each.cell].warmup_s for each in measured.cells)
    return spent.get("timing", 0.0) + min(spent.get("warmup", 0.0), least_s)


if __name__ == "__main__":
    main(sys.argv[1:])

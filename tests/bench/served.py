"""How much the times of eagerly launched calls scatter in a database: `python -m tests.bench.served attnpin.db`.

One line an arm and cell of every run: the time of a call as it is served over that on the device alone, and standard deviations of
ln(time): of the rows of one visit, of the visits of one process, of the processes; last, of a process's difference between an arm and
its copy.
Measured by, for instance, `attnpin calibrate model=qwen3_8b traffic=single_user 'backend=[fa3]' --processes 3 store.url=sqlite:///attnpin.db`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median, stdev

from backends.measured import Visit
from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from store.runs.run import Run
from tuner.calibrating.noise import noise_of

Processes = Sequence[Sequence[Visit]]


def main(databases: Iterable[str]) -> None:
    for name in databases:
        store = open_store(f"sqlite:///{name}")
        for run_id in (each.id for each in list_runs(store)):
            run = load_run(store, run_id)
            print(f"{name}, run {run_id}: {run.scenario.model.name}, {run.scenario.traffic.name}, {len(run.rounds)} processes")
            print("\n".join(lines(run)))


def lines(run: Run) -> Iterator[str]:
    differences = {(noise.arm, noise.cell): noise.sigma_process for noise in noise_of(run.arms, run.rounds)}
    for cell in dict.fromkeys(weighted.cell.name for weighted in run.cells):
        for arm in run.arms:
            found = [[visit for visit in visits if visit.arm == arm.name] for visits in _visits(run, cell)]
            processes = [visits for visits in found if visits and all(visit.served_us is not None for visit in visits)]
            if processes:
                own = differences.get((arm.name, cell))
                yield f"  {arm.name:22} {cell:16} {_said(processes)}  beside its copy {'-' if own is None else f'{own:6.2%}'}"


def _visits(run: Run, cell: str) -> list[tuple[Visit, ...]]:
    return [each.visits for measured in run.rounds for each in measured.cells if each.cell == cell]


def _said(processes: Processes) -> str:
    visits = [visit for process in processes for visit in process]
    ratio = fmean(_served(visit) for visit in visits) - fmean(math.log(median(visit.sample_us)) for visit in visits)
    rows = [_spread([math.log(us) for us in visit.row_us]) for visit in visits if len(visit.row_us) > 1]
    within = fmean(_spread([_served(visit) for visit in process]) for process in processes)
    between = _spread([fmean(_served(visit) for visit in process) for process in processes])
    row = f"{fmean(rows):6.2%}" if rows else "     -"
    return f"served/device {math.exp(ratio):5.2f}  rows {row}  visits {within:6.2%}  processes {between:6.2%}"


def _served(visit: Visit) -> float:
    return math.log(visit.served_us or math.nan)


def _spread(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


if __name__ == "__main__":
    main(sys.argv[1:])

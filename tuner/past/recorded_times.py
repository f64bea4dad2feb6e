"""`gpu=replay`: a recorded run as what times are drawn from, what plans take from it, and which plans it can answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import CellRound, Cost, Round
from backends.simulated.world import RecordedCell, RecordedProcess, World
from store.digest import cell_digest
from store.plan import Plan, Server
from store.runs.run import Run
from tuner.budgeting.estimate import Timed, timed_cells
from tuner.demo.recordings import recording
from tuner.errors import UsageError
from tuner.past.stored import run_from_pin
from tuner.workload.cells import Workload


def recorded_run(name: str) -> Run:
    """``name`` is a recording that attnpin brings, or the pin.yaml that evidence lies beside."""
    return run_from_pin(Path(name)) if name.endswith(".yaml") else recording(name)


def processes_of(run: Run) -> tuple[RecordedProcess, ...]:
    """What was probed and never raced has its probe's time in each of them."""
    digests = {weighted.cell.name: cell_digest(weighted.cell) for weighted in run.cells}
    probes = [_probed(trial.arm, trial.cell, digests[trial.cell], trial.cost) for trial in run.trials if trial.cost]
    probed = {(each.arm, each.cell): each for each in probes}
    return tuple(_process(measured, digests, probed) for measured in run.rounds)


def recorded_server(recording: Run, server: Server, page_size: int) -> Server:
    """``server`` with the KV pool of the one that was recorded, which later rules may size otherwise; an early recording kept none."""
    terms = (recording.terms_of(arm.name) for arm in recording.arms if arm.page_size == page_size)
    return replace(server, pool_tokens=next((each.pool_tokens for each in terms if each), server.pool_tokens))


def recorded_guards(recording: Run) -> Workload:
    """Of a recording there are times of its own guards alone, whatever size a rule would give them now."""
    return Workload(tuple(weighted for weighted in recording.cells if weighted.is_guard), ())


def refuse_unrecorded(world: World | None, plan: Plan) -> None:
    """Raises `UsageError` where ``plan`` would time an arm on a cell whose times the recording of ``world`` does not hold."""
    timed = timed_cells(plan.arms, plan.cells, plan.exclusions)
    if world is not None and (arm_and_cell := first_unrecorded(world, timed)):
        arm, cell = arm_and_cell
        raise UsageError(
            f"not all {len(world.recorded or ())} recorded processes hold a time of {arm.name} on this plan's {cell.name}; ask with the "
            "model and traffic that were recorded, and name the arms that were with measure.backends"
        )


def first_unrecorded(world: World, timed: Timed) -> tuple[Arm, Cell] | None:
    """The first of ``timed`` that some process of the recording holds no time of; None where all do, and where times are modelled."""
    held = [{(each.arm, each.digest) for each in process} for process in world.recorded or ()]
    return next(((arm, cell) for arm, cell in timed if not all((arm.name, cell_digest(cell)) in process for process in held)), None)


def _process(measured: Round, digests: dict[str, str], probed: dict[tuple[str, str], RecordedCell]) -> RecordedProcess:
    raced = {(each.arm, each.cell): each for cell in measured.cells for each in _raced(cell, digests[cell.cell])}
    served = {key: replace(each, served_us=probed[key].served_us) for key, each in raced.items() if key in probed}
    return tuple({**probed, **raced, **served}.values())


def _raced(cell: CellRound, digest: str) -> Iterator[RecordedCell]:
    visits: dict[str, list[float]] = defaultdict(list)
    served: dict[str, list[float]] = defaultdict(list)
    for visit in cell.visits:
        visits[visit.arm].append(median(visit.sample_us))
        if visit.served_us is not None:
            served[visit.arm].append(visit.served_us)
    metadata = {arm: (host_us, idle_us) for arm, host_us, idle_us in cell.metadata_us}
    for arm, times in visits.items():
        yield RecordedCell(arm, cell.cell, digest, tuple(times), median(served[arm]) if arm in served else None, None, metadata[arm])


def _probed(arm: str, cell: str, digest: str, cost: Cost) -> RecordedCell:
    return RecordedCell(arm, cell, digest, (cost.device_us,), None, cost.served_us, (cost.metadata_host_us, cost.metadata_idle_us))

"""`gpu=replay`: a recorded run as what times are drawn from, and which plans it can answer."""

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
from store.plan import Plan
from store.runs.run import Run
from tuner.budgeting.estimate import Timed, estimate, timed_cells
from tuner.demo.recordings import recording
from tuner.errors import UsageError
from tuner.stored import run_from_pin


def recorded_run(name: str) -> Run:
    """``name`` is a recording that attnpin brings, or the pin.yaml that evidence lies beside."""
    return run_from_pin(Path(name)) if name.endswith(".yaml") else recording(name)


def processes_of(run: Run) -> tuple[RecordedProcess, ...]:
    """What was probed and never raced has its probe's time in each of them."""
    digests = {weighted.cell.name: cell_digest(weighted.cell) for weighted in run.cells}
    probes = [_probed(trial.arm, trial.cell, digests[trial.cell], trial.cost) for trial in run.trials if trial.cost]
    probed = {(each.arm, each.cell): each for each in probes}
    return tuple(_process(measured, digests, probed) for measured in run.rounds)


def without_unrecorded_guards(world: World, plan: Plan) -> Plan:
    """A guard is as large as the KV pool, whose size a rule estimates here and the recorded server may have told otherwise: one whose
    times the recording of ``world`` does not hold is left out, and said."""
    timed = timed_cells(plan.arms, plan.cells, plan.exclusions)
    lacking = {cell.name for _, cell in _unrecorded(world, timed)} & {each.cell.name for each in plan.cells if each.is_guard}
    if not lacking:
        return plan
    cells = tuple(each for each in plan.cells if each.cell.name not in lacking)
    said = tuple(f"{name} was dropped: the recording holds no guard of just this size" for name in sorted(lacking))
    cost = estimate(plan.scenario, plan.server, plan.arms, cells, plan.exclusions)
    return replace(plan, cells=cells, estimate=cost, notes=(*plan.notes, *said))


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
    return next(_unrecorded(world, timed), None)


def _unrecorded(world: World, timed: Timed) -> Iterator[tuple[Arm, Cell]]:
    held = [{(each.arm, each.digest) for each in process} for process in world.recorded or ()]
    return ((arm, cell) for arm, cell in timed if not all((arm.name, cell_digest(cell)) in process for process in held))


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

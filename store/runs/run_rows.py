"""A run to its rows and back, without what was measured. Nothing here touches a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from backends.anchored import Anchors
from backends.arm import Arm
from backends.cell import Cell
from backends.environment import Environment
from backends.measured import Round, Trial
from backends.reason import Reason
from backends.step.shape import RestTimes
from backends.wire import from_plain, to_plain
from store.boards.calibration import NoiseFloor
from store.decision import Decision
from store.digest import cell_digest
from store.engines.serving_terms import ServingTerms
from store.revisit import Revisit
from store.runs.run import DefaultPick, Run
from store.scenario import Exclusion, Scenario, WeightedCell
from store.search import Searched
from store.serving.diagnosis import Finding
from store.tables.runs import ArmRow, CellRow, DecisionRow, DistributionRow, ExclusionRow, RunRow, WallSecondsRow

Floor: Any = NoiseFloor | None
Screened: Any = Searched | None
# Fields of Run that are columns of the same name.
SAME = ("id", "digest", "protocol", "status", "created", "tool_version", "command", "engine_version")


def row_of_run(run: Run) -> RunRow:
    board, scenario = run.environment.board, run.scenario
    return RunRow(
        **{name: getattr(run, name) for name in SAME},
        **{"model": scenario.model.name, "traffic": scenario.traffic.name, "engine": scenario.engine.name},
        **{"board": board.name, "board_uuid": board.uuid, "driver": board.driver},
        **{"torch": run.environment.torch, "cuda": run.environment.cuda},
        **{"scenario": to_plain(scenario), "environment": to_plain(run.environment), "default_pick": to_plain(run.default)},
        notes=list(run.notes),
        left_out=list(run.left_out),
        terms=to_plain(run.terms),
        findings=to_plain(run.findings),
        noise_floor=to_plain(run.noise_floor),
        revisits=to_plain(run.revisits),
        anchors=to_plain(run.anchors),
        searched=to_plain(run.searched),
        rests=to_plain(run.rests),
        arms=[_row_of_arm(i, arm) for i, arm in enumerate(run.arms)],
        cells=[row_of_cell(i, cell) for i, cell in enumerate(run.cells)],
        exclusions=[_row_of_exclusion(i, exclusion) for i, exclusion in enumerate(run.exclusions)],
        distributions=[
            DistributionRow(ordinal=i, name=found.name, version=found.version, digest=found.digest)
            for i, found in enumerate(run.environment.distributions)
        ],
        decisions=[] if run.decision is None else [row_of_decision(run.decision)],
        wall_seconds=[WallSecondsRow(phase=phase, seconds=seconds) for phase, seconds in run.wall_seconds],
    )


def run_of_row(row: RunRow, trials: Sequence[Trial], rounds: Sequence[Round]) -> Run:
    return Run(
        **{name: getattr(row, name) for name in SAME},
        scenario=from_plain(Scenario, row.scenario),
        environment=from_plain(Environment, row.environment),
        default=from_plain(DefaultPick, row.default_pick),
        arms=tuple(from_plain(Arm, arm.arm) for arm in row.arms),
        cells=tuple(_cell_of_row(cell) for cell in row.cells),
        exclusions=tuple(_exclusion_of_row(exclusion) for exclusion in row.exclusions),
        trials=tuple(trials),
        rounds=tuple(rounds),
        decision=from_plain(Decision, row.decisions[-1].decision) if row.decisions else None,
        wall_seconds=tuple((wall.phase, wall.seconds) for wall in row.wall_seconds),
        notes=tuple(row.notes),
        left_out=tuple(row.left_out or ()),
        terms=from_plain(tuple[ServingTerms, ...], row.terms or []),
        findings=from_plain(tuple[Finding, ...], row.findings or []),
        noise_floor=from_plain(Floor, row.noise_floor),
        revisits=revisits_of(row),
        searched=from_plain(Screened, row.searched),
        anchors=anchors_of_row(row),
        rests=from_plain(tuple[RestTimes, ...], row.rests or []),
    )


def anchors_of_row(row: RunRow) -> tuple[Anchors, ...]:
    return from_plain(tuple[Anchors, ...], row.anchors or [])


def revisits_of(row: RunRow) -> tuple[Revisit, ...]:
    return from_plain(tuple[Revisit, ...], row.revisits or [])


def row_of_decision(decision: Decision) -> DecisionRow:
    return DecisionRow(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        ruling=decision.ruling.value,
        pick_prefill=decision.pick.prefill if decision.pick else None,
        pick_decode=decision.pick.decode if decision.pick else None,
        decision=to_plain(decision),
    )


def _row_of_arm(ordinal: int, arm: Arm) -> ArmRow:
    return ArmRow(
        ordinal=ordinal,
        name=arm.name,
        backend=arm.backend,
        provider=arm.provider.value,
        page_size=arm.page_size,
        kv_dtype=arm.kv_dtype,
        arm=to_plain(arm),
    )


def row_of_cell(ordinal: int, weighted: WeightedCell) -> CellRow:
    return CellRow(
        ordinal=ordinal,
        name=weighted.cell.name,
        digest=cell_digest(weighted.cell),
        phase=weighted.cell.phase.value,
        layers=weighted.layers,
        calls_per_1000_tokens=weighted.calls_per_1000_tokens,
        token_share=weighted.token_share,
        cell=to_plain(weighted.cell),
    )


def _cell_of_row(row: CellRow) -> WeightedCell:
    return WeightedCell(from_plain(Cell, row.cell), row.layers, row.calls_per_1000_tokens, row.token_share)


def _row_of_exclusion(ordinal: int, exclusion: Exclusion) -> ExclusionRow:
    return ExclusionRow(ordinal=ordinal, backend=exclusion.backend, phase=exclusion.phase, reasons=to_plain(exclusion.reasons))


def _exclusion_of_row(row: ExclusionRow) -> Exclusion:
    return Exclusion(row.backend, row.phase, from_plain(tuple[Reason, ...], row.reasons))

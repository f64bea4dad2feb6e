"""Trials and rounds to their rows and back. Nothing here touches a database."""

from __future__ import annotations

import statistics
import struct
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.outcome import Outcome
from backends.wire import from_plain, to_plain
from store.measured_tables import CellRoundRow, RoundRow, TrialRow, VisitRow

# Fields of Trial that are columns of the same name.
SAME = (
    *("detail", "relative_error", "needle_error", "bandwidth_bytes_per_s", "flops_per_s"),
    *("slots", "pool_tokens", "peak_memory_bytes", "build_s", "capture_s"),
    *("rms_error", "workspace_bytes", "graph_bytes", "open_s", "first_call_s"),
)
KernelFiles: Any = tuple[tuple[str, str], ...] | None
COST = tuple(field.name for field in fields(Cost))


class UnknownName(LookupError):
    """A result names an arm or cell that its run does not have: a fault of the caller, not of the user."""


@dataclass(frozen=True)
class RunKeys:
    """Where the rows of one run hang: keys of its arms and cells by name."""

    run: int
    arms: Mapping[str, int]
    cells: Mapping[str, int]

    def arm(self, name: str) -> int:
        return _key_of("arm", name, self.arms)

    def cell(self, name: str) -> int:
        return _key_of("cell", name, self.cells)


def row_of_trial(trial: Trial, keys: RunKeys) -> TrialRow:
    row = TrialRow(run_key=keys.run, arm_key=keys.arm(trial.arm), cell_key=keys.cell(trial.cell), outcome=trial.outcome.value)
    columns: dict[str, Any] = {name: getattr(trial, name) for name in SAME}
    if trial.kernel_files is not None:
        columns["kernel_files"] = to_plain(trial.kernel_files)
    if trial.identity is not None:
        columns |= to_plain(trial.identity)
    if trial.cost is not None:
        columns |= to_plain(trial.cost)
    for name, value in columns.items():
        setattr(row, name, value)
    return row


def trial_of_row(row: TrialRow) -> Trial:
    measured = row.outcome == Outcome.MEASURED.value
    return Trial(
        arm=row.arm.name,
        cell=row.cell.name,
        outcome=Outcome(row.outcome),
        identity=Identity(str(row.resolved), str(row.mode), tuple(row.kernels or ())) if measured else None,
        cost=Cost(**{name: getattr(row, name) for name in COST}) if measured else None,
        kernel_files=from_plain(KernelFiles, row.kernel_files),
        **{name: getattr(row, name) for name in SAME},
    )


def row_of_round(measured: Round, keys: RunKeys) -> RoundRow:
    return RoundRow(
        run_key=keys.run,
        number=measured.index,
        seed=measured.seed,
        seconds=to_plain(measured.seconds),
        labels=list(measured.labels),
        cells=[_row_of_cell_round(i, cell_round, keys) for i, cell_round in enumerate(measured.cells)],
    )


def round_of_row(row: RoundRow) -> Round:
    return Round(
        index=row.number,
        seed=row.seed,
        cells=tuple(_cell_round_of_row(cell_round) for cell_round in row.cells),
        seconds=from_plain(tuple[tuple[str, float], ...], row.seconds),
        labels=tuple(row.labels),
    )


def pack(samples: tuple[float, ...]) -> bytes:
    """float64, little-endian: every bit of a sample is kept."""
    return struct.pack(f"<{len(samples)}d", *samples)


def unpack(samples: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(samples) // 8}d", samples)


def _row_of_cell_round(ordinal: int, cell_round: CellRound, keys: RunKeys) -> CellRoundRow:
    return CellRoundRow(
        cell_key=keys.cell(cell_round.cell),
        ordinal=ordinal,
        settled=cell_round.settled,
        launches=to_plain(cell_round.launches),
        metadata_us=to_plain(cell_round.metadata_us),
        first_call_s=to_plain(cell_round.first_call_s),
        visits=[_row_of_visit(i, visit, keys) for i, visit in enumerate(cell_round.visits)],
    )


def _cell_round_of_row(row: CellRoundRow) -> CellRound:
    return CellRound(
        cell=row.cell.name,
        launches=from_plain(tuple[tuple[str, int], ...], row.launches),
        visits=tuple(Visit(v.block, v.position, v.arm.name, unpack(v.samples)) for v in row.visits),
        metadata_us=from_plain(tuple[tuple[str, float, float], ...], row.metadata_us),
        settled=row.settled,
        first_call_s=from_plain(tuple[tuple[str, float], ...], row.first_call_s or []),
    )


def _row_of_visit(ordinal: int, visit: Visit, keys: RunKeys) -> VisitRow:
    return VisitRow(
        arm_key=keys.arm(visit.arm),
        ordinal=ordinal,
        block=visit.block,
        position=visit.position,
        n=len(visit.sample_us),
        median_us=statistics.median(visit.sample_us),
        samples=pack(visit.sample_us),
    )


def _key_of(kind: str, name: str, keys: Mapping[str, int]) -> int:
    if name not in keys:
        raise UnknownName(f"the run has no {kind} {name!r}; it has {', '.join(map(repr, keys))}")
    return keys[name]

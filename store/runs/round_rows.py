"""Rounds to their rows and back. Nothing here touches a database."""

from __future__ import annotations

import statistics
import struct
from typing import Any

from backends.measured import CellRound, Conditions, Round, Visit
from backends.wire import from_plain, to_plain
from store.runs.run_keys import RunKeys
from store.tables.measured import CellRoundRow, RoundRow, VisitRow

Named: Any = tuple[tuple[str, str], ...]
Told: Any = Conditions | None


def row_of_round(measured: Round, keys: RunKeys) -> RoundRow:
    return RoundRow(
        run_key=keys.run,
        number=measured.index,
        seed=measured.seed,
        seconds=to_plain(measured.seconds),
        labels=list(measured.labels),
        confirms=measured.confirms,
        quiet=measured.quiet,
        board=measured.board,
        cells=[_row_of_cell_round(i, cell_round, keys) for i, cell_round in enumerate(measured.cells)],
    )


def round_of_row(row: RoundRow) -> Round:
    return Round(
        index=row.number,
        seed=row.seed,
        cells=tuple(_cell_round_of_row(cell_round) for cell_round in row.cells),
        seconds=from_plain(tuple[tuple[str, float], ...], row.seconds),
        labels=tuple(row.labels),
        confirms=bool(row.confirms),
        quiet=bool(row.quiet),
        board=row.board,
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
        code_ids=to_plain(cell_round.code_ids),
        spacer_us=cell_round.spacer_us,
        conditions=to_plain(cell_round.conditions),
        voided=list(cell_round.voided),
        visits=[_row_of_visit(i, visit, keys) for i, visit in enumerate(cell_round.visits)],
    )


def _cell_round_of_row(row: CellRoundRow) -> CellRound:
    return CellRound(
        cell=row.cell.name,
        launches=from_plain(tuple[tuple[str, int], ...], row.launches),
        visits=tuple(map(_visit_of_row, row.visits)),
        metadata_us=from_plain(tuple[tuple[str, float, float], ...], row.metadata_us),
        settled=row.settled,
        first_call_s=from_plain(tuple[tuple[str, float], ...], row.first_call_s or []),
        code_ids=from_plain(Named, row.code_ids or []),
        spacer_us=row.spacer_us,
        conditions=from_plain(Told, row.conditions),
        voided=tuple(row.voided or ()),
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
        served_us=visit.served_us,
        sm_clock_mhz=visit.sm_clock_mhz,
        row_samples=pack(visit.row_us) if visit.row_us else None,
    )


def _visit_of_row(row: VisitRow) -> Visit:
    rows = unpack(row.row_samples or b"")
    return Visit(row.block, row.position, row.arm.name, unpack(row.samples), row.served_us, row.sm_clock_mhz, rows)

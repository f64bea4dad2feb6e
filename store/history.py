"""Questions about past runs, answered from the columns that exist for them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import func, select

from backends.cell import Cell
from store.connect import Store, reading
from store.digest import cell_digest
from store.measured_tables import CellRoundRow, RoundRow, VisitRow
from store.tables import ArmRow, CellRow, DecisionRow, DistributionRow, RunRow


@dataclass(frozen=True)
class RunSummary:
    """``rounds`` stored so far; ``ruling`` of the newest decision."""

    id: str
    created: str
    status: str
    model: str
    traffic: str
    engine: str
    engine_version: str | None
    board: str
    rounds: int
    ruling: str | None


@dataclass(frozen=True)
class VersionMedian:
    """One arm on one cell in one run: ``median_us`` a call is the geometric mean over ``visits`` of each visit's median.

    ``version`` and ``digest`` are those of the distribution asked for. ``board_uuid`` tells boards of one name apart:
    medians of different boards are no comparison of versions.
    """

    version: str
    digest: str
    board: str
    board_uuid: str | None
    run: str
    created: str
    arm: str
    median_us: float
    rounds: int
    visits: int


def list_runs(store: Store) -> tuple[RunSummary, ...]:
    """All runs, newest first."""
    rounds = select(func.count(RoundRow.key)).where(RoundRow.run_key == RunRow.key).scalar_subquery()
    decided = select(DecisionRow.ruling).where(DecisionRow.run_key == RunRow.key)
    ruling = decided.order_by(DecisionRow.key.desc()).limit(1).scalar_subquery()
    columns = RunRow.id, RunRow.created, RunRow.status, RunRow.model, RunRow.traffic, RunRow.engine, RunRow.engine_version, RunRow.board
    with reading(store) as session:
        rows = session.execute(select(*columns, rounds, ruling).order_by(RunRow.key.desc()))
        return tuple(RunSummary(*row) for row in rows)


def median_by_distribution(store: Store, backend: str, cell: Cell, distribution: str) -> tuple[VersionMedian, ...]:
    """What every arm of ``backend`` took on ``cell`` (under whatever name), by the version of ``distribution`` that was
    installed; oldest run first."""
    of_arm = RunRow.key, RunRow.id, RunRow.created, RunRow.board, RunRow.board_uuid, ArmRow.name
    query = (
        select(*of_arm, DistributionRow.version, DistributionRow.digest, CellRoundRow.round_key, VisitRow.median_us)
        .join(ArmRow, VisitRow.arm_key == ArmRow.key)
        .join(RunRow, ArmRow.run_key == RunRow.key)
        .join(CellRoundRow, VisitRow.cell_round_key == CellRoundRow.key)
        .join(CellRow, CellRoundRow.cell_key == CellRow.key)
        .join(DistributionRow, DistributionRow.run_key == RunRow.key)
        .where(ArmRow.backend == backend, CellRow.digest == cell_digest(cell), DistributionRow.name == distribution)
        .order_by(RunRow.key, ArmRow.ordinal, VisitRow.key)
    )
    with reading(store) as session:
        rows = session.execute(query).all()
    return tuple(_median(list(visits)) for _, visits in groupby(rows, key=lambda row: (row.key, row.name)))


def _median(visits: Sequence[Any]) -> VersionMedian:
    first = visits[0]
    return VersionMedian(
        version=first.version,
        digest=first.digest,
        board=first.board,
        board_uuid=first.board_uuid,
        run=first.id,
        created=first.created,
        arm=first.name,
        median_us=statistics.geometric_mean(visit.median_us for visit in visits),
        rounds=len({visit.round_key for visit in visits}),
        visits=len(visits),
    )

"""Questions about past runs, answered from the columns that exist for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Any

from sqlalchemy import Row, Select, func, or_, select
from sqlalchemy.orm import Session

from backends.arm import Arm
from backends.environment import Environment
from backends.timing.disturbance import CAPPED
from backends.wire import from_plain
from store.connect import Store, reading
from store.course import Point
from store.measured_tables import CellRoundRow, RoundRow, VisitRow
from store.side_by_side_tables import SideBySideRow
from store.tables import ArmRow, CellRow, DecisionRow, RunRow


@dataclass(frozen=True)
class RunSummary:
    """``rounds`` stored so far; ``ruling`` of the newest decision; ``side_of`` the comparison that it is a side of, "baseline of ID"."""

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
    side_of: str | None = None


def list_runs(store: Store) -> tuple[RunSummary, ...]:
    """All runs, newest first."""
    rounds = select(func.count(RoundRow.key)).where(RoundRow.run_key == RunRow.key).scalar_subquery()
    decided = select(DecisionRow.ruling).where(DecisionRow.run_key == RunRow.key)
    ruling = decided.order_by(DecisionRow.key.desc()).limit(1).scalar_subquery()
    columns = RunRow.id, RunRow.created, RunRow.status, RunRow.model, RunRow.traffic, RunRow.engine, RunRow.engine_version, RunRow.board
    with reading(store) as session:
        sides = {key: f"{side} of {found}" for key, side, found in _sides(session)}
        rows = session.execute(select(*columns, rounds, ruling, RunRow.key).order_by(RunRow.key.desc()))
        return tuple(replace(RunSummary(*values), side_of=sides.get(key)) for *values, key in rows)


def points_of(store: Store, arm: str, cell: str) -> tuple[Point, ...]:
    """Every run, and either side of every comparison, in which ``arm`` was timed on a cell of that name, in the order they were begun.
    Boards, models and cells may be several: names are those of each run."""
    with reading(store) as session:
        comparisons = {key: found for key, _, found in _sides(session)}
        rows = session.execute(_visits(arm, cell)).all()
        return tuple(_point(session, comparisons, key, list(its)) for key, its in groupby(rows, key=lambda row: row.run))


def named_in(store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all arms and of all cells of all runs."""
    with reading(store) as session:
        arms, cells = (session.scalars(select(column).distinct().order_by(column)).all() for column in (ArmRow.name, CellRow.name))
    return tuple(arms), tuple(cells)


def _sides(session: Session) -> Iterator[tuple[int, str, str]]:
    """Key of a run, "baseline" or "candidate", and of which comparison."""
    for row in session.execute(select(SideBySideRow.id, SideBySideRow.baseline_key, SideBySideRow.candidate_key)):
        yield row.baseline_key, "baseline", row.id
        yield row.candidate_key, "candidate", row.id


def _visits(arm: str, cell: str) -> Select[*tuple[Any, ...]]:
    """One row a visit: which run and process, and us of a call as it is served."""
    us = func.coalesce(VisitRow.served_us, VisitRow.median_us).label("us")
    columns = RunRow.key.label("run"), ArmRow.arm, CellRow.digest, RoundRow.number, RoundRow.labels, us
    found = select(*columns).join(ArmRow, VisitRow.arm_key == ArmRow.key).join(RunRow, ArmRow.run_key == RunRow.key)
    found = found.join(CellRoundRow, VisitRow.cell_round_key == CellRoundRow.key).join(CellRow, CellRoundRow.cell_key == CellRow.key)
    found = found.join(RoundRow, CellRoundRow.round_key == RoundRow.key)
    raced = or_(RoundRow.confirms.is_(None), RoundRow.confirms.is_(False))
    return found.where(ArmRow.name == arm, CellRow.name == cell, raced).order_by(RunRow.key, RoundRow.number, VisitRow.key)


def _point(session: Session, comparisons: dict[int, str], key: int, visits: list[Row[Any]]) -> Point:
    run, first = session.get_one(RunRow, key), visits[0]
    return Point(
        run=run.id,
        comparison=comparisons.get(key),
        created=run.created,
        model=run.model,
        traffic=run.traffic,
        engine=run.engine,
        engine_version=run.engine_version,
        protocol=run.protocol,
        profile=run.scenario["measure"]["profile"],
        environment=from_plain(Environment, run.environment),
        arm=from_plain(Arm, first.arm),
        cell_digest=first.digest,
        processes=tuple(_processes(visits)),
        capped=any(CAPPED in visit.labels for visit in visits),
    )


def _processes(visits: Iterable[Row[Any]]) -> Iterator[tuple[int, float]]:
    for number, its in groupby(visits, key=lambda visit: visit.number):
        yield number, fmean(math.log(visit.us) for visit in its)

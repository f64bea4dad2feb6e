"""How long one arm took on one cell, in every run that timed it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from statistics import fmean
from typing import Any, TypeVar

from sqlalchemy import Row, Select, Text, cast, func, or_, select
from sqlalchemy.orm import Session

from backends.arm import Arm
from backends.environment import Environment
from backends.timing.disturbance import CAPPED
from backends.wire import from_plain
from store.comparisons.side_by_side import SLOWED
from store.database.connect import Store, reading
from store.database.outlasting import outlasts_a_restart
from store.past.course import Point
from store.past.history import sides
from store.runs.run import FOREIGN
from store.tables.measured import CellRoundRow, RoundRow, VisitRow
from store.tables.runs import ArmRow, CellRow, RunRow
from store.tables.side_by_sides import SideBySideRow

T = TypeVar("T")

# Hundreds of runs are of few environments and arms: these come as they are written, to be read once each.
OF_A_RUN = (
    *(RunRow.key, RunRow.id, RunRow.created, RunRow.model, RunRow.traffic, RunRow.engine, RunRow.engine_version, RunRow.protocol),
    RunRow.scenario["measure"]["profile"].as_string().label("profile"),
    *(cast(RunRow.environment, Text).label("environment"), cast(ArmRow.arm, Text).label("arm")),
)
AT_ONCE = 1000  # rows asked for by their keys in one statement: databases limit how many


@outlasts_a_restart
def points_of(store: Store, arm: str, cell: str) -> tuple[Point, ...]:
    """Every run, and either side of every comparison, in which ``arm`` was timed on a cell of that name, in the order they were begun,
    but for candidates that were slowed on purpose and for foreign ones. Boards, models and cells may be several: names are those of each
    run. Of a run on several boards its own one alone counts, which its environment names."""
    with reading(store) as session:
        comparisons, slowed = {key: found for key, _, found in sides(session)}, set(_slowed(session))
        rows = [row for row in session.execute(_visits(arm, cell)) if row.run not in slowed]
        visits = {key: list(its) for key, its in groupby(rows, key=lambda row: row.run)}
        return tuple(_point(run, comparisons.get(run.key), visits[run.key]) for run in _runs(session, arm, list(visits)))


@outlasts_a_restart
def named_in(store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all arms and of all cells of all runs."""
    with reading(store) as session:
        arms, cells = (sorted(session.scalars(select(column).distinct())) for column in (ArmRow.name, CellRow.name))
    return tuple(arms), tuple(cells)


def _slowed(session: Session) -> Iterator[int]:
    """Keys of candidates whose times are no one's."""
    for row in session.execute(select(SideBySideRow.candidate_key, SideBySideRow.said)):
        if row.said[1].startswith(SLOWED):
            yield row.candidate_key


def _visits(arm: str, cell: str) -> Select[*tuple[Any, ...]]:
    """One row a visit: which run and process, and us of a call as it is served."""
    us = func.coalesce(VisitRow.served_us, VisitRow.median_us).label("us")
    columns = ArmRow.run_key.label("run"), CellRow.digest, RoundRow.number, cast(RoundRow.labels, Text).label("labels"), us
    found = select(*columns).join(ArmRow, VisitRow.arm_key == ArmRow.key)
    found = found.join(CellRoundRow, VisitRow.cell_round_key == CellRoundRow.key).join(CellRow, CellRoundRow.cell_key == CellRow.key)
    found = found.join(RoundRow, CellRoundRow.round_key == RoundRow.key).join(RunRow, RoundRow.run_key == RunRow.key)
    raced = or_(RoundRow.confirms.is_(None), RoundRow.confirms.is_(False))
    own = or_(RoundRow.board.is_(None), RoundRow.board == RunRow.board_uuid)
    return found.where(ArmRow.name == arm, CellRow.name == cell, raced, own).order_by(ArmRow.run_key, RoundRow.number, VisitRow.key)


def _runs(session: Session, arm: str, keys: Sequence[int]) -> Iterator[Row[Any]]:
    """What a point says of its run and ``arm``, of those of ``keys``, which ascend, that are not foreign."""
    for start in range(0, len(keys), AT_ONCE):
        of = select(*OF_A_RUN).join(ArmRow, ArmRow.run_key == RunRow.key).where(ArmRow.name == arm, RunRow.status != FOREIGN)
        yield from session.execute(of.where(RunRow.key.in_(keys[start : start + AT_ONCE])).order_by(RunRow.key))


def _point(run: Row[Any], comparison: str | None, visits: Sequence[Row[Any]]) -> Point:
    return Point(
        run=run.id,
        comparison=comparison,
        created=run.created,
        model=run.model,
        traffic=run.traffic,
        engine=run.engine,
        engine_version=run.engine_version,
        protocol=run.protocol,
        profile=run.profile,
        environment=_read(Environment, run.environment),
        arm=_read(Arm, run.arm),
        cell_digest=visits[0].digest,
        processes=tuple(_processes(visits)),
        capped=any(CAPPED in _read(list[str], visit.labels) for visit in visits),
    )


@cache
def _read(kind: type[T], text: str) -> T:
    return from_plain(kind, json.loads(text))


def _processes(visits: Iterable[Row[Any]]) -> Iterator[tuple[int, float]]:
    for number, its in groupby(visits, key=lambda visit: visit.number):
        yield number, fmean(math.log(visit.us) for visit in its)

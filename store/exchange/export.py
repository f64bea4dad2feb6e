"""All that a store holds, an item at a time: each is read in a transaction of its own, so that no writer waits."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backends.wire import to_plain
from store.database.connect import Store, reading
from store.database.outlasting import outlasts_a_restart
from store.exchange.items import Item, Kind, Plain
from store.runs.run_in_session import whole_run
from store.tables.calibrations import CalibrationRow, MachineCodeRow
from store.tables.origins import OriginRow
from store.tables.runs import RunRow
from store.tables.side_by_sides import SideBySideRow

SAID = ("id", "digest", "status", "created", "command", "said", "together")


def items(store: Store) -> Iterator[Item]:
    """Runs, comparisons with theirs, calibrations and machine code, each in the order in which it was stored."""
    runs, keys = _keys(store)
    yield from (_read(store, _run, key) for key in runs)
    for row, read in ((SideBySideRow, _comparison), (CalibrationRow, _calibration), (MachineCodeRow, _machine_code)):
        yield from (_read(store, read, key) for key in keys[row])


@outlasts_a_restart
def _keys(store: Store) -> tuple[list[int], dict[Any, list[int]]]:
    """Of runs that are no side of a comparison, and of everything else by its table."""
    with reading(store) as session:
        sides = {key for row in session.execute(select(SideBySideRow.baseline_key, SideBySideRow.candidate_key)) for key in row}
        runs = [key for key in session.scalars(select(RunRow.key).order_by(RunRow.key)) if key not in sides]
        keys = {row: list(session.scalars(select(row.key).order_by(row.key))) for row in (SideBySideRow, CalibrationRow, MachineCodeRow)}
        return runs, keys


@outlasts_a_restart
def _read(store: Store, read: Any, key: int) -> Item:
    with reading(store) as session:
        item: Item = read(session, key)
        wanted = OriginRow.kind == item.kind.value, OriginRow.id == item.id
        return replace(item, origin=session.scalar(select(OriginRow.origin).where(*wanted).order_by(OriginRow.key.desc()).limit(1)))


def run_value(session: Session, row: RunRow) -> Plain:
    """With every decision that was taken on it, oldest first; the run has the newest alone."""
    return {"run": to_plain(whole_run(session, row)), "decisions": [[each.created, each.decision] for each in row.decisions]}


def _run(session: Session, key: int) -> Item:
    row = session.get_one(RunRow, key)
    return Item(Kind.RUN, row.id, run_value(session, row))


def _comparison(session: Session, key: int) -> Item:
    row = session.get_one(SideBySideRow, key)
    sides = {
        name: run_value(session, session.get_one(RunRow, its))
        for name, its in (("baseline", row.baseline_key), ("candidate", row.candidate_key))
    }
    return Item(Kind.COMPARISON, row.id, {**{name: getattr(row, name) for name in SAID}, **sides})


def _calibration(session: Session, key: int) -> Item:
    row = session.get_one(CalibrationRow, key)
    return Item(Kind.CALIBRATION, row.run, row.calibration)


def _machine_code(session: Session, key: int) -> Item:
    row = session.get_one(MachineCodeRow, key)
    code = base64.b64encode(row.code).decode()
    return Item(
        Kind.MACHINE_CODE, f"{row.architecture}/{row.source}", {"architecture": row.architecture, "source": row.source, "code": code}
    )

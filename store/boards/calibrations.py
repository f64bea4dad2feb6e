"""Calibrations of boards, and the machine code of their anchors, in the store. Each call is one transaction."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Select, select

from backends.anchored import Anchors
from backends.environment import Board
from backends.wire import from_plain, to_plain
from store.boards.calibration import LIFE_DAYS, Calibration, key_of
from store.database.connect import Store, reading, writing
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql import one_at_a_time
from store.tables.calibrations import CalibrationRow, MachineCodeRow


@outlasts_a_restart
def save_calibration(store: Store, calibration: Calibration) -> None:
    row = CalibrationRow(
        run=calibration.run,
        created=calibration.created,
        protocol=calibration.protocol,
        calibration=to_plain(calibration),
        **calibration.board.columns,
    )
    with writing(store) as session:
        one_at_a_time(session, calibration.run)
        if session.scalar(_stored(calibration)) is None:
            session.add(row)


@outlasts_a_restart
def holds_calibration(store: Store, calibration: Calibration) -> bool:
    with reading(store) as session:
        return session.scalar(_stored(calibration)) is not None


@outlasts_a_restart
def calibration_for(store: Store, board: Board, protocol: int, now: datetime, neighbours: bool = False) -> Calibration | None:
    """The newest of this very board under its present driver and power limit, `LIFE_DAYS` old at the most; of those alone that asked about
    its ``neighbours``, where that is wanted."""
    since = (now - timedelta(days=LIFE_DAYS)).isoformat(timespec="seconds")
    query = (
        select(CalibrationRow.calibration)
        .where(*(getattr(CalibrationRow, name) == value for name, value in key_of(board).columns.items()))
        .where(CalibrationRow.protocol == protocol, CalibrationRow.created >= since)
        .order_by(CalibrationRow.created.desc(), CalibrationRow.key.desc())
        .limit(1)
    )
    if neighbours:
        query = query.where(CalibrationRow.calibration["neighbours"].as_string().is_not(None))
    with reading(store) as session:
        plain = session.scalar(query)
    return None if plain is None else from_plain(Calibration, plain)


@outlasts_a_restart
def anchors_of(store: Store, run: str) -> tuple[Anchors, ...]:
    """Those of the calibration that ``run`` ended in; none where it did not."""
    with reading(store) as session:
        plain = session.scalar(select(CalibrationRow.calibration).where(CalibrationRow.run == run))
    return () if plain is None else from_plain(Calibration, plain).anchors


@outlasts_a_restart
def machine_code(store: Store, architecture: str, source: str) -> bytes | None:
    with reading(store) as session:
        return session.scalar(_code(architecture, source))


@outlasts_a_restart
def keep_machine_code(store: Store, architecture: str, source: str, code: bytes) -> None:
    """The first that is kept stays."""
    with writing(store) as session:
        one_at_a_time(session, source)
        if session.scalar(_code(architecture, source)) is None:
            session.add(MachineCodeRow(architecture=architecture, source=source, code=code))


def _stored(calibration: Calibration) -> Select[int]:
    return select(CalibrationRow.key).where(CalibrationRow.run == calibration.run, CalibrationRow.created == calibration.created)


def _code(architecture: str, source: str) -> Select[bytes]:
    return select(MachineCodeRow.code).where(MachineCodeRow.architecture == architecture, MachineCodeRow.source == source)

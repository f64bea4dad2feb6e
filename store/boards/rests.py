"""What steps take beside attention on the boards that were measured, in the store. Each call is one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select

from backends.environment import Environment
from backends.step.shape import RestTimes, StepShape
from backends.wire import from_plain, to_plain
from store.boards.calibration import LIFE_DAYS, key_of
from store.database.connect import Store, reading, writing
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql import one_at_a_time
from store.digest import shape_digest
from store.tables.rests import RestRow


@outlasts_a_restart
def save_rest(store: Store, environment: Environment, protocol: int, found: RestTimes, now: datetime) -> None:
    row = {**_key(environment, protocol), "shape": shape_digest(found.shape), "created": now.isoformat(timespec="seconds")}
    with writing(store) as session:
        one_at_a_time(session, row["shape"])
        stored = session.scalars(select(RestRow.rest).where(*_is(row)))
        if to_plain(found) not in stored:
            session.add(RestRow(rest=to_plain(found), **row))


@outlasts_a_restart
def rests_for(store: Store, environment: Environment, protocol: int, shapes: Iterable[StepShape], now: datetime) -> tuple[RestTimes, ...]:
    """The newest of each of ``shapes`` on this very board under its present driver, power limit and torch, `LIFE_DAYS` old at the
    most; those that were not measured are missing."""
    since = (now - timedelta(days=LIFE_DAYS)).isoformat(timespec="seconds")
    of_board = _is(_key(environment, protocol))
    newest = {}
    with reading(store) as session:
        for digest in dict.fromkeys(map(shape_digest, shapes)):
            query = select(RestRow.rest).where(*of_board, RestRow.shape == digest, RestRow.created >= since)
            newest[digest] = session.scalar(query.order_by(RestRow.created.desc(), RestRow.key.desc()).limit(1))
    return tuple(from_plain(RestTimes, plain) for plain in newest.values() if plain is not None)


def _key(environment: Environment, protocol: int) -> dict[str, Any]:
    return {**key_of(environment.board).columns, "torch": environment.torch, "protocol": protocol}


def _is(values: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    return [getattr(RestRow, name) == value for name, value in values.items()]

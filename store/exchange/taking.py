"""An item of another store taken into this one, in one transaction: nothing doubled, nothing lost, nothing of ours changed by what
nobody vouches for. Taking it again changes nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backends.wire import from_plain
from store.boards.calibration import Calibration
from store.boards.calibrations import holds_calibration, keep_machine_code, machine_code, save_calibration
from store.comparisons.side_by_side import SIDES
from store.database.connect import Store, writing
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql import one_at_a_time
from store.evidence.run_evidence import public
from store.exchange.items import Item, Kind, Plain, Took
from store.exchange.joining import holds, joined
from store.exchange.taken_runs import State, extend, insert, state_of
from store.runs.run import FINISHED, FOREIGN, INCOMPLETE
from store.runs.run_in_session import whole_run
from store.tables.origins import OriginRow
from store.tables.runs import RunRow
from store.tables.side_by_sides import SideBySideRow

MARK = "~"  # behind the id of a run that went on in two ways


@outlasts_a_restart
def take(store: Store, item: Item, trusted: bool, origin: Plain) -> Took:
    """``origin`` says where it is taken from. Raises ValueError for a value that is no record of this attnpin."""
    if item.kind in (Kind.CALIBRATION, Kind.MACHINE_CODE):
        return _board(store, item) if trusted else Took.LEFT_OUT
    with writing(store) as session:
        base = item.id.partition(MARK)[0]
        one_at_a_time(session, base)
        took, name = (_run if item.kind is Kind.RUN else _comparison)(session, item, base, trusted)
        if took is not Took.THERE:
            session.add(OriginRow(kind=item.kind.value, id=name, sha256=item.sha256, trusted=trusted, origin=origin))
        return took


def _run(session: Session, item: Item, base: str, trusted: bool) -> tuple[Took, str]:
    theirs = _vouched(state_of(item.value), trusted)
    rows = list(_called(session, RunRow, base))
    for row in rows:
        if (took := _joined(session, [row], [theirs], trusted, item.reduced)) is not None:
            return took, row.id
    name = _free(base, {row.id for row in rows})
    insert(session, theirs.called(name))
    return (Took.BESIDE if rows else Took.ADDED), name


def _comparison(session: Session, item: Item, base: str, trusted: bool) -> tuple[Took, str]:
    said, sides = item.value, [_vouched(state_of(item.value[name]), trusted) for name in SIDES]
    rows = list(_called(session, SideBySideRow, base))
    for row in rows:
        runs = [session.get_one(RunRow, key) for key in (row.baseline_key, row.candidate_key)]
        alike = all(getattr(row, name) == said[name] for name in ("digest", "created", "command", "said", "together"))
        if alike and (took := _joined(session, runs, sides, trusted, item.reduced)) is not None:
            row.status = FOREIGN if row.status == FOREIGN and not trusted else runs[0].status
            return took, row.id
    name = _free(base, {row.id for row in rows})
    keys = [insert(session, side.called(_free_run(session, side.run.id))).key for side in sides]
    values = {field: said[field] for field in ("digest", "created", "command", "said", "together")}
    session.add(SideBySideRow(id=name, status=sides[0].run.status, baseline_key=keys[0], candidate_key=keys[1], **values))
    return (Took.BESIDE if rows else Took.ADDED), name


def _joined(session: Session, rows: list[RunRow], theirs: list[State], trusted: bool, reduced: bool) -> Took | None:
    """What became of ``theirs`` where ``rows`` hold them in some state; None where they do not, or may not be touched by them."""
    ours = [whole_run(session, row) for row in rows]
    both = [joined(mine, their.run) for mine, their in zip(ours, theirs)]
    vouches, whole = trusted and any(mine.status == FOREIGN for mine in ours), None not in both
    same = reduced and all(public(mine) == replace(their.run, id=mine.id, status=mine.status) for mine, their in zip(ours, theirs))
    if same and not (vouches and whole):
        return Took.THERE
    if not whole:
        return None
    known = all(holds(mine, their.run) and their.decided(row) for mine, their, row in zip(ours, theirs, rows))
    if known and not vouches:
        return Took.THERE
    if not trusted and any(mine.status != FOREIGN for mine in ours):
        return None
    for row, mine, each, their in zip(rows, ours, both, theirs):
        if each is not None:
            extend(session, row, mine, replace(each, status=each.status if trusted else FOREIGN), their)
    return Took.VOUCHED if known else Took.EXTENDED


def _vouched(state: State, trusted: bool) -> State:
    """As it is called here: foreign, or what it says to be, of which one that was foreign elsewhere says nothing."""
    status = state.run.status if state.run.status != FOREIGN else FINISHED if state.run.decision else INCOMPLETE
    return replace(state, run=replace(state.run, status=status if trusted else FOREIGN))


def _called(session: Session, table: Any, base: str) -> Iterator[Any]:
    """Rows of that id, and of those beside it. Each is asked for: what begins with a text no index of both databases finds."""
    for name in _names(base):
        if (row := session.scalar(select(table).where(table.id == name))) is None:
            return
        yield row


def _free_run(session: Session, wanted: str) -> str:
    base = wanted.partition(MARK)[0]
    return _free(base, {row.id for row in _called(session, RunRow, base)})


def _free(base: str, taken: set[str]) -> str:
    return next(name for name in _names(base) if name not in taken)


def _names(base: str) -> Iterator[str]:
    """In the order in which they are given; none is left out."""
    yield base
    yield from (f"{base}{MARK}{number}" for number in count(2))


def _board(store: Store, item: Item) -> Took:
    """What is known of boards: it has a say in decisions."""
    if item.kind is Kind.MACHINE_CODE:
        architecture, source = item.value["architecture"], item.value["source"]
        if machine_code(store, architecture, source) is not None:
            return Took.THERE
        keep_machine_code(store, architecture, source, base64.b64decode(item.value["code"], validate=True))
        return Took.ADDED
    calibration = from_plain(Calibration, item.value)
    if holds_calibration(store, calibration):
        return Took.THERE
    save_calibration(store, calibration)
    return Took.ADDED

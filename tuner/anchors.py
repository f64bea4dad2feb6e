"""The anchors of the board at hand, with machine code that is compiled once an architecture and kept in the store."""

from __future__ import annotations

import base64
from typing import Any

from backends.anchored import Anchors
from backends.environment import Board
from backends.spec import StageSpec
from backends.timing.anchor_kernels import source_digest
from backends.wire import from_plain, to_plain
from store.calibrations import keep_machine_code, machine_code
from store.connect import Store
from tuner.session import Session


def take_anchors(session: Session, store: Store, stage: StageSpec, board: Board) -> Anchors:
    """Measured now, in a process of their own."""
    architecture, source = architecture_of(board), source_digest()
    known = machine_code(store, architecture, source)
    session.clock.enter("import")
    event = _asked(session, stage, known)
    if known is None and event["code"] is not None:
        keep_machine_code(store, architecture, source, base64.b64decode(event["code"]))
    return from_plain(Anchors, event["anchors"])


def architecture_of(board: Board) -> str:
    """What machine code is made for."""
    return board.kind if board.sm is None else f"sm_{board.sm}"


def _asked(session: Session, stage: StageSpec, known: bytes | None) -> dict[str, Any]:
    code = None if known is None else base64.b64encode(known).decode()
    with session.worker(()) as worker:
        for event in worker.ask({"do": "anchors", "stage": to_plain(session.staged(stage)), "code": code}):
            if event["event"] == "progress":
                session.clock.enter("timing")
                session.progress.phase("anchors")
            if event["event"] == "anchors":
                return event
    raise RuntimeError("the worker ended without its anchors")

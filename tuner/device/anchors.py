"""The anchors of the board at hand, with machine code that is compiled once an architecture and kept in the store."""

from __future__ import annotations

import base64
from typing import Any

from backends.anchored import Anchors
from backends.environment import Board
from backends.spec import StageSpec, TimingSpec
from backends.timing.anchor_kernels import source_digest
from backends.wire import from_plain
from store.boards.calibrations import keep_machine_code, machine_code
from store.database.connect import Store
from store.runs.repository import add_anchors
from tuner.device.asking import answers
from tuner.device.session import Session
from tuner.job import Job


def take_anchors(session: Session, store: Store, stage: StageSpec, timing: TimingSpec, board: Board) -> Anchors:
    """Measured now, in a process of their own."""
    architecture, source = architecture_of(board), source_digest()
    known = machine_code(store, architecture, source)
    session.clock.enter("import")
    event = _asked(session, stage, timing, known)
    if known is None and event["code"] is not None:
        keep_machine_code(store, architecture, source, base64.b64decode(event["code"]))
    return from_plain(Anchors, event["anchors"])


def keep_anchors(job: Job, board: Board) -> None:
    """Taken now and stored with the run of ``job``."""
    taken = take_anchors(job.session, job.store, job.stage, job.scenario.measure.timing, board)
    add_anchors(job.store, job.run_id, taken)
    job.book_time()


def architecture_of(board: Board) -> str:
    """What machine code is made for."""
    return board.kind if board.sm is None else f"sm_{board.sm}"


def _asked(session: Session, stage: StageSpec, timing: TimingSpec, known: bytes | None) -> dict[str, Any]:
    code = None if known is None else base64.b64encode(known).decode()
    question = {"do": "anchors", "stage": session.staged(stage), "timing": timing, "code": code}
    for event in answers(session, question, "anchors", "anchors"):
        return event
    raise RuntimeError("the worker ended without its anchors")

"""A run for a public corpus: its evidence, and nothing that tells whose it is or where it ran."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from backends.wire import to_plain
from store.decision import Decision
from store.evidence.run_evidence import public
from store.evidence.scrub import ABSOLUTE_PATH, private_names, without_names
from store.runs.run import Run

SHORT = 12


def contribution(run: Run, names: Iterable[str] = ()) -> Run:
    """As evidence, with ``names`` gone from every text and a pseudonym for each board: the same in all contributions of that board."""
    found = public(run)
    board = found.environment.board
    engine = replace(found.scenario.engine, command=(), path=())
    return replace(
        found,
        command=without_names(found.command, names),
        scenario=replace(found.scenario, engine=engine),
        environment=replace(found.environment, board=replace(board, uuid=_pseudonym(board.uuid)), image=None),
        rounds=tuple(replace(measured, board=_pseudonym(measured.board)) for measured in found.rounds),
        decision=found.decision and _renamed(found.decision),
    )


def _pseudonym(uuid: str | None) -> str | None:
    return uuid and f"board-{hashlib.sha256(uuid.encode()).hexdigest()[:SHORT]}"


def _renamed(decision: Decision) -> Decision:
    if (spread := decision.spread) is None:
        return decision
    boards = tuple(replace(each, board=_pseudonym(each.board)) for each in spread.boards)
    return replace(decision, spread=replace(spread, boards=boards, decides=_pseudonym(spread.decides)))


def leaks(run: Run, original: Run, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Texts of ``run`` that still hold an absolute path, an account or a host, ``names``, or a board's UUID."""
    boards = {original.environment.board.uuid, *(measured.board for measured in original.rounds)}
    wanted = {*private_names(original.scenario.engine), *names, *filter(None, boards)}
    texts = dict.fromkeys(_strings(to_plain(run)))
    return tuple(text for text in texts if ABSOLUTE_PATH.search(text) or without_names(text, wanted) != text)


def _strings(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    for each in plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ():
        yield from _strings(each)

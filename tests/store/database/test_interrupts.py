"""Ctrl-C at any line of a transaction ends the command as an interruption, with what was begun stored whole."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from store.database.connect import Store, open_store
from store.database.interrupts import held_back
from store.past.history import list_runs
from store.runs.repository import begin_run
from tests.store.building import a_run

FRAGILE = "sqlalchemy/orm/state_changes.py"  # closing a session fails where one of its methods was left half-way


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Whoever started the tests in the background had interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def interrupted_at(line: int) -> Iterator[list[int]]:
    """Ctrl-C the first time that ``line`` of `FRAGILE` is about to run; yields the lines that ran."""
    ran: list[int] = []

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.endswith(FRAGILE):
            return None
        if event == "line":
            ran.append(frame.f_lineno)
            if ran.count(line) == 1 and frame.f_lineno == line:
                signal.raise_signal(signal.SIGINT)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield ran
    finally:
        sys.settrace(before)


def test_ctrl_c_at_any_line_of_a_session_is_an_interruption_and_loses_nothing(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/attnpin.db")
    with interrupted_at(0) as ran:
        begin_run(store, a_run("first"), fresh=True)
    lines = sorted(set(ran))
    assert len(lines) > 10
    for line in lines:
        with pytest.raises(KeyboardInterrupt), interrupted_at(line):
            begin_run(store, a_run(f"at-{line}"), fresh=True)
    assert stored(store) == {"first", *(f"at-{line}" for line in lines)}


def stored(store: Store) -> set[str]:
    return {found.id for found in list_runs(store)}


def test_a_second_ctrl_c_is_heard_at_once() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(signal.SIGINT)
        reached.append("after the first")
        signal.raise_signal(signal.SIGINT)
        reached.append("after the second")
    assert reached == ["after the first"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_that_end_a_command_wait_too(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda which, _: heard.append(which))
    try:
        with held_back():
            signal.raise_signal(number)
            assert not heard
        assert heard == [number]
    finally:
        signal.signal(number, before)


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_back():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN

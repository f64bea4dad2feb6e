from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from tuner import progress as module
from tuner.progress import PLAIN_INTERVAL_S, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that stands still: its one element is the time."""
    time = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: time[0])
    yield time


def lines(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_without_a_terminal_a_new_headline_is_one_plain_line(now: list[float]) -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.phase("probing fa3/p1", "import")
        progress.phase("probing fa3/p1", "build")
        progress.phase("probing triton/p1", "import")
    assert lines(stream) == ["attnpin: probing fa3/p1: import", "attnpin: probing triton/p1: import"]


def test_under_one_headline_a_line_comes_now_and_then(now: list[float]) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    for phase in ("import", "build", "capture"):
        progress.phase("probing fa3/p1", phase)
        now[0] += PLAIN_INTERVAL_S * 0.6
    assert lines(stream) == ["attnpin: probing fa3/p1: import", "attnpin: probing fa3/p1: capture"]


def test_the_time_left_is_judged_by_the_steps_done_since_the_work_began(now: list[float]) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    now[0] += 500.0  # waiting for the lock
    progress.total(10, done=4)
    progress.phase("round 1", "")
    now[0] += 30.0
    progress.step()
    progress.phase("round 2")
    now[0] += 10.0
    progress.step()
    progress.phase("round 3")
    assert lines(stream) == [
        "attnpin: round 1",
        "attnpin: round 2  (5/10, about 150 s left)",
        "attnpin: round 3  (6/10, about 80 s left)",
    ]


def test_within_a_step_the_time_left_shrinks(now: list[float]) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.total(4)
    now[0] += 60.0
    progress.step()
    for phase in ("import", "warmup", "timing"):
        progress.phase("pair 2", phase)
        now[0] += 100.0
    assert [line.partition("about ")[2] for line in lines(stream)] == ["180 s left)", "80 s left)", "0 s left)"]


def test_notes_stay_and_the_best_is_said_when_it_changes(now: list[float]) -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.note("triton/p1: crashed on every cell: SIGSEGV")
    for name in ("fa3", "fa3", "flashinfer"):
        progress.best(name)
    assert lines(stream) == [
        "attnpin: triton/p1: crashed on every cell: SIGSEGV",
        "attnpin: best so far: fa3",
        "attnpin: best so far: flashinfer",
    ]


def test_in_a_terminal_a_bar_shows_phase_steps_and_best_and_is_gone_at_the_end() -> None:
    stream = Terminal()
    with Progress(stream) as progress:
        progress.total(7, done=3)
        progress.best("fa3/p1 leads")
        progress.phase("round 2 of 4", "timing")
        progress.step()
        progress.note("a [note] that stays")
    shown = stream.getvalue()
    assert "round 2 of 4: timing  fa3/p1 leads" in shown and "4/7" in shown
    assert "a [note] that stays\n" in shown
    assert shown.endswith("\x1b[1A\x1b[2K")  # up to the bar's line, which is erased

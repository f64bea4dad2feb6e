from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from store.serving.verified import Standing, Verified
from tests.tuner.verifying.pinned import log, pinned, starts
from tuner.errors import UsageError
from tuner.verifying.follow import Clock, follow
from tuner.verifying.judge import judged


class Time:
    def __init__(self) -> None:
        self.now_s = 0.0

    def pause(self, seconds: float) -> None:
        self.now_s += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, self.pause)


def growing(text: str) -> Callable[[], Verified]:
    """A log that has one line more at each look, after one at which it is not there."""
    parts: Iterable[str] = (text[: end + 1] for end, char in enumerate(text) if char == "\n")
    looks = iter(parts)
    missing = iter([True])

    def look() -> Verified:
        if next(missing, False):
            raise UsageError("--log server.log does not exist: check the path")
        return judged(starts(next(looks, text)), pinned())

    return look


def test_it_waits_for_the_log_and_until_the_server_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    time, text = Time(), log("sglang-0.5.16-default")
    found = follow(growing(text), 100.0, time.clock)
    ready = next(number for number, line in enumerate(text.splitlines(), 1) if "ready to roll" in line)
    assert found.standing is Standing.AS_PINNED and found.servers[0].start.ready and time.now_s == ready
    out, err = capsys.readouterr()
    assert out == "" and "waiting for the server to start" in err


def test_it_ends_at_its_bound_with_what_is_there() -> None:
    time, text = Time(), log("sglang-0.5.16-default")
    cut = text[: text.index("KV Cache")]
    found = follow(growing(cut[: cut.rindex("\n") + 1]), 30.0, time.clock)
    assert time.now_s == 30.0 and found.notes[-1] == "its start was not complete after 30 s"


def test_a_log_that_never_comes_is_an_error_in_the_end() -> None:
    time = Time()

    def look() -> Verified:
        raise UsageError("--log server.log does not exist: check the path")

    with pytest.raises(UsageError, match="does not exist"):
        follow(look, 5.0, time.clock)
    assert time.now_s == 5.0

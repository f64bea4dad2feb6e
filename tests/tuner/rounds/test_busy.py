"""Neighbours that are to be busy: scripted boards, no worker."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import pytest

from backends.outcome import Outcome
from tuner.device.patience import RETRIES
from tuner.rounds import busy
from tuner.rounds.busy import NotBusy, kept_busy
from tuner.rounds.lent import Gone, Order
from tuner.workers.failure import Place, WorkerFailed

STAGE: Any = None
ORDER = Order(0, {}, STAGE, ())
BROKEN = WorkerFailed(Outcome.INTERRUPTED, "no sign of life", Place())
AWAY = Gone("its node went away")


class Neighbour:
    """Answers with ``answers``, one after another, then is at a round until it is killed."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self._killed, self.at_work = threading.Event(), threading.Event()

    def measured(self, order: Order) -> Any:
        if self._answers:
            return self._answers.pop(0)
        self.at_work.set()
        assert self._killed.wait(10)
        return BROKEN

    def kill(self) -> None:
        self._killed.set()


def beside(neighbour: Any) -> int:
    with kept_busy([nullcontext(neighbour)], ORDER, lambda note: None) as number:
        assert neighbour.at_work.wait(10)
    return number


@pytest.mark.parametrize("failures", [0, RETRIES])
def test_a_neighbour_that_is_at_work_at_the_end_may_have_broken_off_before(failures: int) -> None:
    assert beside(Neighbour(*[BROKEN] * failures)) == 1


@pytest.mark.parametrize(("answers", "why"), [((AWAY,), AWAY.why), ((BROKEN,) * (RETRIES + 1), BROKEN.detail)])
def test_one_that_goes_away_or_breaks_off_again_and_again_stops(answers: tuple[Any, ...], why: str) -> None:
    stopped: Any = Neighbour(*answers)
    assert busy._work(stopped, ORDER, threading.Event()) == why


def test_times_beside_one_that_stopped_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "_work", lambda *asked: AWAY.why)
    stopped: Any = nullcontext(Neighbour())
    with pytest.raises(NotBusy, match="its node went away"), kept_busy([stopped], ORDER, lambda note: None):
        pass

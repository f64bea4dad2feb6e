from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

from backends import cuda_driver
from backends.ahead import import_ahead
from backends.arm import Arm, Provider
from tuner.workers.ahead import Ahead
from tuner.workers.bundle import bundle
from tuner.workers.process import Worker

DRIVERS = """
from backends import cuda_driver
class Driver:
    pass
class Opener:
    @staticmethod
    def import_ahead(packages):
        cuda_driver.context_is_open = lambda: True
class Dier:
    @staticmethod
    def import_ahead(packages):
        import os
        os._exit(7)
"""
ARM, OTHER, OPENER, DIER = (Arm(name, Provider.KERNEL, f"made_up:{name}", 1, "float32") for name in ("Driver", "Driver2", "Opener", "Dier"))


@pytest.fixture
def fresh(tmp_path: pathlib.Path) -> Worker:
    """Not started; its torch is an empty module, which costs no time."""
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "made_up.py").write_text(DRIVERS)
    return Worker([sys.executable], code=bundle([tmp_path / "torch.py", tmp_path / "made_up.py"]))


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    waiting = Ahead()
    yield waiting
    waiting.end()


def test_the_worker_that_imported_for_these_arms_answers_next(ahead: Ahead, fresh: Worker) -> None:
    ahead.start(fresh, [ARM])
    taken = ahead.take([OTHER, ARM])
    assert taken is fresh and not ahead.disturbs
    again = list(taken.ask({"do": "import", "arms": [ARM]}))
    assert [event["event"] for event in again] == ["progress", "imported"] and again[-1]["context"] is False
    assert ahead.take([ARM]) is None, "it is handed over once"
    taken.kill()


def test_a_worker_that_imported_for_others_is_not_handed_to_an_arm_that_must_be_alone(ahead: Ahead, fresh: Worker) -> None:
    ahead.start(fresh, [ARM, OTHER])
    assert ahead.take([ARM]) is None
    assert ahead.take([ARM, OTHER]) is fresh
    fresh.kill()


def test_one_that_waits_gives_way_to_one_for_other_arms(ahead: Ahead, fresh: Worker) -> None:
    ahead.start(fresh, [ARM])
    ahead.start(unwanted := Worker(["/no/such/python"]), [ARM])
    assert ahead.take([ARM]) is fresh, "the same arms: nothing is started"
    ahead.start(fresh, [ARM])
    ahead.start(unwanted, [OTHER])
    assert ahead.take([ARM]) is None
    fresh.kill()


def test_one_that_dies_over_its_imports_is_left_to_a_fresh_process(ahead: Ahead, fresh: Worker) -> None:
    ahead.start(fresh, [DIER])
    assert ahead.take([DIER]) is None
    assert not ahead.disturbs


def test_a_command_that_does_not_start_is_left_to_the_next_process_to_report(ahead: Ahead) -> None:
    ahead.start(Worker(["/no/such/python"]), [ARM])
    assert ahead.take([ARM]) is None


def test_imports_that_open_a_context_end_their_process_and_are_told(ahead: Ahead, fresh: Worker) -> None:
    ahead.start(fresh, [OPENER])
    assert ahead.take([OPENER]) is None
    assert ahead.disturbs


def test_what_cannot_be_imported_ahead_is_left_for_the_arm_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "library", lambda: None)
    assert import_ahead([Arm("none", Provider.KERNEL, "no_such_module:Driver", 1, "float32")]) is False

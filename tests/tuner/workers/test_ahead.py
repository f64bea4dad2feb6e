from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from backends import cuda_driver
from backends.ahead import import_ahead
from backends.arm import Arm, Provider
from backends.worker.line import Line
from backends.worker.quiet import Quiet
from tests.tuner.workers.asking import answer_of, failure_of, trial
from tuner.workers import process
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
class Signer:
    @staticmethod
    def import_ahead(packages):
        import os, pathlib, time
        pathlib.Path(os.environ["SIGNS"], "begun").write_text(str(os.getpid()))
        while not pathlib.Path(os.environ["SIGNS"], "go").exists():
            time.sleep(0.002)
class Dier:
    @staticmethod
    def import_ahead(packages):
        import os
        os._exit(7)
"""
NAMES = ("Driver", "Driver2", "Opener", "Dier", "Signer")
ARM, OTHER, OPENER, DIER, SIGNER = (Arm(name, Provider.KERNEL, f"made_up:{name}", 1, "float32") for name in NAMES)


@pytest.fixture
def starting(tmp_path: pathlib.Path) -> Callable[[], Worker]:
    """Makes workers, not started; their torch is an empty module, which costs no time."""
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "made_up.py").write_text(DRIVERS)
    code = bundle([tmp_path / "torch.py", tmp_path / "made_up.py"])
    return lambda: Worker([sys.executable], code=code)


@pytest.fixture
def fresh(starting: Callable[[], Worker]) -> Worker:
    return starting()


def wait_until(true: Callable[[], bool], limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return true()


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    waiting = Ahead()
    yield waiting
    waiting.end()


def nobody() -> Worker:
    raise AssertionError("a worker was started")


def test_the_worker_that_imported_for_these_arms_answers_next(ahead: Ahead, fresh: Worker) -> None:
    ahead.prepare([[ARM]], lambda: fresh)
    taken = ahead.take([OTHER, ARM])
    assert taken is fresh and not ahead.disturbs
    again = list(taken.ask({"do": "import", "arms": [ARM]}))
    assert [event["event"] for event in again] == ["progress", "imported"] and again[-1]["context"] is False
    assert ahead.take([ARM]) is None, "it is handed over once"
    taken.kill()


def test_a_worker_that_imported_for_others_is_not_handed_to_an_arm_that_must_be_alone(ahead: Ahead, fresh: Worker) -> None:
    ahead.prepare([[ARM, OTHER]], lambda: fresh)
    assert ahead.take([ARM]) is None
    assert ahead.take([ARM], others=True) is fresh
    fresh.kill()


def test_several_wait_and_each_process_gets_the_one_that_imported_most_for_it(ahead: Ahead, starting: Callable[[], Worker]) -> None:
    one, both, again = workers = [starting() for _ in range(3)]
    ahead.prepare([[ARM], [ARM, OTHER], [ARM]], iter(workers).__next__)
    assert [ahead.take([ARM, OTHER]), ahead.take([ARM]), ahead.take([ARM]), ahead.take([ARM])] == [both, one, again, None]
    for each in workers:
        each.kill()


def test_those_that_wait_are_kept_for_whom_they_serve_and_end_where_nobody_comes(ahead: Ahead, starting: Callable[[], Worker]) -> None:
    first, second, third = starting(), starting(), starting()
    ahead.prepare([[ARM]], lambda: first)
    ahead.prepare([[ARM, OTHER]], nobody)
    ahead.prepare([[OTHER]], lambda: second)
    assert ahead.take([ARM]) is None
    ahead.prepare([[OTHER], [OTHER]], lambda: third)
    assert [ahead.take([OTHER]), ahead.take([OTHER])] == [second, third]
    ahead.prepare([], nobody)
    for each in (second, third):
        each.kill()


def test_one_that_dies_over_its_imports_is_left_to_a_fresh_process(ahead: Ahead, fresh: Worker) -> None:
    ahead.prepare([[DIER]], lambda: fresh)
    assert ahead.take([DIER]) is None
    assert not ahead.disturbs


def test_a_command_that_does_not_start_is_left_to_the_next_process_to_report(ahead: Ahead) -> None:
    ahead.prepare([[ARM]], lambda: Worker(["/no/such/python"]))
    assert ahead.take([ARM]) is None


def test_imports_that_open_a_context_end_their_process_and_are_told(ahead: Ahead, fresh: Worker) -> None:
    ahead.prepare([[OPENER]], lambda: fresh)
    assert ahead.take([OPENER]) is None
    assert ahead.disturbs


def test_only_imports_of_a_new_kind_are_waited_for_before_a_process_counts(
    ahead: Ahead, starting: Callable[[], Worker], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNS", str(tmp_path))
    (tmp_path / "go").touch()
    ahead.prepare([[SIGNER]], starting)
    ahead.settle()
    (tmp_path / "go").unlink()
    taken = ahead.take([SIGNER])
    ahead.prepare([[SIGNER], [OPENER]], starting)
    ahead.settle()  # would not return for the first of them
    assert ahead.disturbs
    assert taken is not None
    taken.kill()


def state_of(pid: str) -> str:
    """ "T" for a process that stands still."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def test_who_imports_stands_still_while_another_one_times(
    ahead: Ahead, fresh: Worker, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNS", str(tmp_path))
    ahead.prepare([[SIGNER]], lambda: fresh)
    begun = tmp_path / "begun"
    assert wait_until(lambda: begun.exists() and begun.read_text() != "", 10)
    ahead.hush(True)
    assert wait_until(lambda: state_of(begun.read_text()) == "T", 5)
    (tmp_path / "go").touch()
    assert ahead.take([SIGNER]) is fresh, "taking it over lets it go on"
    fresh.kill()


def test_who_waits_for_imports_that_another_thread_ends_goes_without_them(
    ahead: Ahead, fresh: Worker, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNS", str(tmp_path))
    ahead.prepare([[SIGNER]], lambda: fresh)
    assert wait_until((tmp_path / "begun").exists, 10)
    ahead.kill()
    assert ahead.take([SIGNER]) is None  # which would not return: nobody lets it go on


def test_who_begins_to_import_while_another_one_times_waits_for_its_end(
    ahead: Ahead, fresh: Worker, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNS", str(tmp_path))
    ahead.hush(True)
    ahead.prepare([[SIGNER]], lambda: fresh)
    ahead.hush(False)
    assert wait_until((tmp_path / "begun").exists, 10)
    (tmp_path / "go").touch()
    assert ahead.take([SIGNER]) is fresh
    fresh.kill()


def test_a_worker_asks_for_quiet_before_it_times_and_gives_it_back(misbehaving: bytes) -> None:
    heard: list[bool] = []
    with Worker([sys.executable], code=misbehaving, hush=heard.append) as worker:
        assert answer_of(worker, trial("works")) == "fine"
    assert heard == [True]  # for its phase "build", which is its last one


def test_a_worker_that_stands_still_leaves_the_quiet_and_has_it_again_with_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bool] = []
    sent: list[bytes] = []
    worker = Worker([sys.executable], code=b"", hush=heard.append)
    said = iter(({"event": "quiet", "wanted": True}, {"event": "turn"}, {"event": "done"}))
    monkeypatch.setattr(worker, "_streams", SimpleNamespace(send=sent.append))
    monkeypatch.setattr(worker, "_next_event", lambda streams: next(said))
    monkeypatch.setattr(worker, "_answering", True)
    events = worker._answer(worker._streams)  # type: ignore[arg-type]
    assert next(events)["event"] == "turn" and heard == [True, False]
    worker.go_on()
    assert list(events) == [] and heard == [True, False, True] and sent == [process.GO_ON] * 2


def test_quiet_ends_where_the_one_that_times_says_nothing_any_more(misbehaving: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be waiting for what the one that stands still holds."""
    monkeypatch.setattr(process, "QUIET_LIMIT_S", 0.0)
    heard: list[bool] = []
    with Worker([sys.executable], code=misbehaving, hush=heard.append) as worker:
        failure_of(worker, trial("hangs", limit_s=0.8))
    assert heard == [True, False]


def test_quiet_is_wanted_from_the_first_timed_phase_to_the_next_that_is_not() -> None:
    sent: list[tuple[str, object]] = []

    class Recording(Line):
        def send(self, event: str, **fields: object) -> None:
            sent.append((event, fields.get("wanted", fields.get("phase"))))

        def wait(self) -> None:
            sent.append(("waited", None))

    quiet = Quiet(Recording(-1))
    for phase in ("import", "build", "timing", "check", "metadata"):
        quiet.say(phase)
    assert sent == [
        *(("progress", "import"), ("quiet", True), ("waited", None), ("progress", "build"), ("progress", "timing")),
        *(("quiet", False), ("progress", "check"), ("quiet", True), ("waited", None), ("progress", "metadata")),
    ]


def test_what_cannot_be_imported_ahead_is_left_for_the_arm_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "initialised", lambda: None)
    assert import_ahead([Arm("none", Provider.KERNEL, "no_such_module:Driver", 1, "float32")]) is False

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.tuner.composed import composed
from tuner.device.keeper import Keeper
from tuner.executors import child, local
from tuner.executors.child import Children
from tuner.executors.executor import Done, Task, command_of, program
from tuner.executors.lookup import executor_of
from tuner.executors.nursery import Nursery
from tuner.executors.place import DEVICES, NEAR, Place

TASK = Task(1, "traffic=chat", ("gpu=h200", "traffic=chat"), "mine")


def said_by(code: str, say: list[str] | None = None) -> Done:
    return Children().run([sys.executable, "-c", code], (say if say is not None else []).append)


def test_a_task_is_the_command_that_a_user_would_type() -> None:
    words = command_of(TASK, ["executor.device=GPU-1"])
    assert words[: len(program())] == program()
    assert words[len(program()) :] == [
        "tune",
        *TASK.overrides,
        "executor.device=GPU-1",
        "--json",
        "--config-dir",
        str(Path("mine").absolute()),
    ]


def test_what_a_child_says_is_heard_and_its_line_of_data_kept() -> None:
    heard: list[str] = []
    done = said_by(
        "import sys; print('{\"a\": 1}'); print('attnpin: round 1', file=sys.stderr); print('attnpin: done', file=sys.stderr)", heard
    )
    assert (done.exit_code, json.loads(done.line or ""), done.last) == (0, {"a": 1}, "done") and heard == ["round 1", "done"]


@pytest.mark.parametrize(("code", "exit_code"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_a_child_that_fails_has_its_code_and_no_line(code: str, exit_code: int) -> None:
    assert (said_by(code).exit_code, said_by(code).line) == (exit_code, None)


def test_an_interruption_reaches_a_child_that_runs_and_one_that_starts_later() -> None:
    children, begun = Children(), threading.Event()
    code = "import sys, time\nprint('here', file=sys.stderr, flush=True)\ntry: time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(130)"
    results: list[Done] = []
    run = threading.Thread(target=lambda: results.append(children.run([sys.executable, "-c", code], lambda _: begun.set())))
    run.start()
    began = time.monotonic()
    assert begun.wait(20)
    children.interrupt()
    run.join(20)
    later = children.run([sys.executable, "-c", code], lambda _: None)
    assert [done.exit_code for done in results] == [130] and later.exit_code in (130, 1) and time.monotonic() - began < 20


def test_without_a_word_about_neighbours_one_runs_at_a_time() -> None:
    assert executor_of(composed("gpu=h200")).places == 1


def test_with_leave_each_visible_gpu_runs_one_and_workers_keep_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keeper, "devices", lambda self: ("GPU-1", "GPU-2"))
    executor = executor_of(composed("gpu=h200", "executor.exclusive_host=false"))
    commands: list[list[str]] = []
    monkeypatch.setattr(Nursery, "begin", lambda self, arguments: commands.append(arguments))
    monkeypatch.setattr(child.Children, "hear", lambda self, begin, say: begin() or Done(0, None, ""))
    assert executor.places == 2
    for place in range(2):
        executor.run(TASK, place, print)
    assert [[word for word in command if word.startswith("executor.device=")] for command in commands] == [
        ["executor.device=GPU-1"],
        ["executor.device=GPU-2"],
    ]
    assert isinstance(executor, local.Local)


def test_the_workers_of_a_job_on_a_named_gpu_see_that_one_alone_from_the_processors_near_it() -> None:
    assert Place(device="GPU-1").variables == {DEVICES: "GPU-1", NEAR: "GPU-1"}
    assert Place(device="GPU-1", numa=False).variables == {DEVICES: "GPU-1"} and Place().variables == {}

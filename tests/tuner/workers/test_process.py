from __future__ import annotations

import os
import pathlib
import signal
import sys
import time
from typing import Any

import pytest

from backends.outcome import Outcome
from tests.tuner.workers.asking import answer_of, failure_of, trial
from tuner.errors import UsageError
from tuner.workers.failure import WorkerFailed
from tuner.workers.process import Worker


def test_a_question_is_answered_with_progress_and_results(worker: Worker) -> None:
    events = list(worker.ask(trial("works")))
    assert [event["event"] for event in events] == ["progress", "trial"]
    assert events[0]["phase"] == "build" and events[0]["arm"] == "works/p1"
    assert events[1]["trial"] == {"arm": "works/p1", "answer": "fine", "cells": 0}


def test_an_answer_left_half_read_does_not_mix_with_the_next(worker: Worker) -> None:
    assert next(worker.ask(trial("answers_five_megabytes")))["event"] == "progress"
    assert answer_of(worker, trial("works")) == "fine"


@pytest.mark.parametrize(
    ("misfortune", "outcome", "words"),
    [
        ("exits", Outcome.CRASHED, "exit code 7"),
        ("exits_silently", Outcome.CRASHED, "exit code 0"),
        ("segfaults", Outcome.CRASHED, "SIGSEGV"),
        ("is_killed", Outcome.CRASHED, "SIGKILL"),
        ("loses_the_gpu", Outcome.CRASHED, "illegal memory access"),
    ],
)
def test_a_worker_that_dies_costs_its_arm_and_says_how(worker: Worker, misfortune: str, outcome: Outcome, words: str) -> None:
    failure = failure_of(worker, trial(misfortune))
    assert failure.outcome is outcome
    assert words in failure.detail
    assert (failure.phase, failure.arm, failure.cell) == ("build", f"{misfortune}/p1", "the cell")
    assert failure_of(worker, trial("works")).arm is None  # it stays dead, and the next arm has no part in it


def test_a_line_that_is_lost_says_nothing_of_the_arm(worker: Worker) -> None:
    events = worker.ask(trial("hangs"))
    pid = int(next(events)["detail"])
    guard = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
    os.kill(guard, signal.SIGKILL)
    with pytest.raises(WorkerFailed) as caught:
        next(events)
    assert caught.value.outcome is Outcome.INTERRUPTED
    assert caught.value.detail.startswith("the worker ended without a word, exit code -9")


def test_a_crash_leaves_its_python_stack_in_the_talk(worker: Worker) -> None:
    assert "in segfaults" in failure_of(worker, trial("segfaults")).talk


@pytest.mark.parametrize(
    ("misfortune", "outcome", "detail"),
    [
        ("runs_out_of_memory", Outcome.OUT_OF_MEMORY, "MemoryError"),
        ("runs_out_of_gpu_memory", Outcome.OUT_OF_MEMORY, "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB."),
        ("misses_a_module", Outcome.MISSING_PACKAGE, "ModuleNotFoundError: No module named 'no_such_kernel_library'"),
        ("returns_nan", Outcome.REFUSED, "ValueError: Out of range float values are not JSON compliant"),
    ],
)
def test_an_arm_that_fails_in_order_leaves_the_worker_usable(worker: Worker, misfortune: str, outcome: Outcome, detail: str) -> None:
    failure = failure_of(worker, trial(misfortune))
    assert failure.outcome is outcome
    assert failure.detail.startswith(detail)
    assert answer_of(worker, trial("works")) == "fine"


def test_an_arm_that_is_blamed_by_name_is_the_one_that_failed(worker: Worker) -> None:
    failure = failure_of(worker, trial("blames_another_arm"))
    assert (failure.outcome, failure.detail) == (Outcome.INCORRECT, "wrong by 3")
    assert (failure.phase, failure.arm, failure.cell) == ("build", "triton/p1", None)
    assert failure_of(worker, trial("works")).outcome is Outcome.INTERRUPTED  # the process was given up


def test_a_library_that_calls_exit_ends_its_arm(worker: Worker) -> None:
    failure = failure_of(worker, trial("calls_exit"))
    assert (failure.outcome, failure.detail) == (Outcome.CRASHED, "SystemExit: a library gave up")


@pytest.mark.parametrize("misfortune", ["hangs", "hangs_with_the_lock", "spins_with_the_lock"])
def test_a_worker_that_hangs_is_killed_after_its_limit(worker: Worker, misfortune: str) -> None:
    started = time.monotonic()
    failure = failure_of(worker, trial(misfortune, limit_s=0.5))
    assert time.monotonic() - started < 3.0
    assert failure.outcome is Outcome.TIMED_OUT
    assert failure.detail == f"no word for 0.5 s (phase build, {misfortune}/p1, the cell); raise patience.building if it needs longer"
    assert f"in {misfortune}" in failure.talk


def test_building_has_its_own_limit_as_long_as_a_compiler_lives(worker: Worker) -> None:
    assert answer_of(worker, trial("compiles_for_a_second", limit_s=1.5)) == "built"


def test_a_compiler_that_never_ends_is_killed_at_the_building_limit(worker: Worker) -> None:
    failure = failure_of(worker, trial("compiles_for_ever", limit_s=1.5, compiling_s=2.0))
    assert failure.outcome is Outcome.TIMED_OUT
    assert "cc1plus was still building after 2 s" in failure.detail and "raise patience.compiling" in failure.detail


def test_what_libraries_print_never_reaches_the_line(worker: Worker) -> None:
    assert answer_of(worker, trial("prints_garbage")) == ""
    deadline = time.monotonic() + 2
    printed = ("{not json", "neither is this", "nor this", "a child prints too")
    while not all(text in worker.talk for text in printed) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all(text in worker.talk for text in printed)


def test_messages_of_megabytes_pass_both_ways(worker: Worker) -> None:
    message = trial("answers_five_megabytes")
    answer = answer_of(worker, {**message, "padding": "x" * 5_000_000})
    assert len(answer) == 500_000 and answer[-1] == 499_999.125


def test_the_worker_runs_from_real_files_and_brings_no_library_of_the_controller(worker: Worker) -> None:
    assert answer_of(worker, trial("reads_its_own_source")) is True
    assert answer_of(worker, trial("lists_heavy_imports")) == []


def test_a_killed_worker_leaves_neither_process_nor_folder(misbehaving: bytes, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    worker = Worker([sys.executable], code=misbehaving)
    with worker:
        events = worker.ask(trial("hangs_with_the_lock"))
        pid = int(next(events)["detail"])
        assert len(list(tmp_path.iterdir())) == 1
    assert not os.path.exists(f"/proc/{pid}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("misfortune", "outcome", "words"),
    [
        ("loses_a_real_gpu", Outcome.CRASHED, "CUDA error: device-side assert triggered"),
        ("hangs_on_a_real_gpu", Outcome.TIMED_OUT, "no word for 15 s"),
        ("fills_a_real_gpu", Outcome.OUT_OF_MEMORY, "CUDA out of memory"),
    ],
)
def test_what_goes_wrong_on_a_gpu_costs_one_arm_and_leaves_the_board_free(
    worker: Worker, misfortune: str, outcome: Outcome, words: str
) -> None:
    failure = failure_of(worker, trial(misfortune, limit_s=15.0))
    assert failure.outcome is outcome
    assert words in failure.detail
    worker.kill()
    with Worker([sys.executable]) as fresh:
        [_, facts] = fresh.ask({"do": "facts", "imports": ["torch", "triton"]})
    assert facts["environment"]["board"]["kind"] == "cuda"
    assert facts["busy"] is None


def test_one_that_was_killed_before_it_was_launched_does_not_stay(misbehaving: bytes) -> None:
    """Another thread may kill it just then."""
    worker = Worker([sys.executable], code=misbehaving)
    worker.kill()
    with pytest.raises(UsageError, match="it ended"), worker:
        pass
    assert worker.launch().exit_code(0.0) is not None

"""The GPUs of a server are its own while it is measured: the locks that other runs of attnpin take."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from backends.worker import lock
from tests.reports import building
from tuner.confirming import gpus
from tuner.confirming.gpus import locked, used, visible_with
from tuner.progress import Progress

ENGINE = building.scenario().engine
SERVE = (sys.executable, "-m", "sglang.launch_server", "--model-path", "m")
FOUR = ("GPU-a", "GPU-b", "GPU-c", "GPU-d")


def visible(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Of a host with four, as the driver understands numbers."""
    shown = variables.get("CUDA_VISIBLE_DEVICES")
    return FOUR if shown is None else tuple(FOUR[int(number)] for number in shown.split(",") if number)


def test_a_server_has_as_many_gpus_as_it_has_ranks() -> None:
    assert used(SERVE, ENGINE, visible) == FOUR[:1]
    assert used(SERVE, replace(ENGINE, tensor_parallel=2), visible) == FOUR[:2]
    assert used(SERVE, replace(ENGINE, tensor_parallel=2, pipeline_parallel=2), visible) == FOUR


def test_the_commands_own_variable_counts() -> None:
    assert used(("env", "A=b", "CUDA_VISIBLE_DEVICES=2,1", *SERVE), ENGINE, visible) == ("GPU-c",)


@pytest.mark.parametrize("command", [(*SERVE, "--base-gpu-id", "2"), (*SERVE, "--base-gpu-id=2"), ("sleep", "1"), ("no-such-program",)])
def test_where_nobody_can_tell_which_it_takes_all_are_its_own(command: tuple[str, ...]) -> None:
    assert used(command, ENGINE, visible) == FOUR


def test_a_machine_is_asked_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "ASK", "import json, os; import backends; print(json.dumps([os.environ['CUDA_VISIBLE_DEVICES']]))")
    assert visible_with({"CUDA_VISIBLE_DEVICES": "3"}) == ("3",)
    monkeypatch.setattr(gpus, "ASK", "raise SystemExit('no driver')")
    assert visible_with({}) == ()


def test_a_lock_is_waited_for_taken_and_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_shared_folder", lambda: tmp_path)
    said = io.StringIO()
    others = lock.held("GPU-a", "attnpin tune model=m", print)
    others.__enter__()
    monkeypatch.setattr(lock.time, "sleep", lambda seconds: others.__exit__(None, None, None))
    with pytest.raises(KeyboardInterrupt), locked(("GPU-b", "GPU-a", "GPU-a"), Progress(said)):
        assert "waiting for GPU-a, held by attnpin tune model=m" in said.getvalue()
        assert {file.name for file in tmp_path.iterdir()} == {"attnpin-GPU-a.lock", "attnpin-GPU-b.lock"}
        with pytest.raises(ZeroDivisionError), lock.held("GPU-b", "another", lambda owner: 1 // 0):
            pass  # nobody else has it meanwhile
        raise KeyboardInterrupt
    for gpu in ("GPU-a", "GPU-b"):
        with lock.held(gpu, "another", lambda owner: pytest.fail(f"still held by {owner}")):
            pass


def test_one_that_cannot_be_locked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_shared_folder", lambda: tmp_path / "nowhere")
    said = io.StringIO()
    with locked(("GPU-a",), Progress(said)):
        pass
    assert "no lock on GPU-a (No such file or directory)" in said.getvalue()

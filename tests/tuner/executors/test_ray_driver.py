"""With what Ray does to a process when its head is gone: it is left, with 1 and without a word."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuner.errors import AttnpinError, MeasurementInvalid
from tuner.executors import ray_driver
from tuner.executors.ray_driver import MOST_HEADS, outlasting_heads

ROOT = Path(__file__).parents[3]


@pytest.fixture
def head() -> Iterator[str]:
    """An address at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def told(file: Path) -> list[str]:
    return file.read_text().split()


def test_what_ray_ended_goes_on_in_another_process_once_a_head_is_there(
    head: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def work(again: bool) -> int:
        with (tmp_path / "told").open("a") as file:
            print(again, file=file)
        if len(told(tmp_path / "told")) < 3:
            os._exit(1)
        return 3

    assert outlasting_heads(work, head, False) == 3
    assert told(tmp_path / "told") == ["False", "True", "True"]
    assert capfd.readouterr().err.count(f"the head of the Ray cluster went away; waiting 2 min for one at {head}") == 2


@pytest.mark.parametrize("gap_s", [0.0, 0.3])
def test_a_head_in_the_place_of_another_is_not_waited_at_for_ever(gap_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a driver does whose head was replaced; the one before hangs up as a process that is killed does."""
    first = socket.create_server(("127.0.0.1", 0))
    where = first.getsockname()
    others: list[socket.socket] = []

    def work(again: bool) -> int:
        first.close()  # this process' own descriptor of it
        (tmp_path / "began").touch()
        time.sleep(0 if again else 60)
        return 0 if again else 3

    def replace_it() -> None:
        caller, _ = first.accept()
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        first.close()
        caller.close()
        time.sleep(gap_s)
        others.append(socket.create_server(where))

    thread = threading.Thread(target=replace_it)
    thread.start()
    began = time.monotonic()
    assert outlasting_heads(work, f"127.0.0.1:{where[1]}", False) == 0 and time.monotonic() - began < 30
    thread.join()
    others[0].close()


def test_without_a_head_the_same_command_is_to_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_driver, "PATIENCE_S", 0.0)
    for address in ("127.0.0.1:1", "auto", None):
        with pytest.raises(MeasurementInvalid, match=f"no Ray cluster answers at executor.address={address}; .* it goes on"):
            outlasting_heads(lambda again: os._exit(1), address, False)


def test_a_head_that_goes_away_again_and_again_is_given_up(head: str) -> None:
    with pytest.raises(MeasurementInvalid, match=f"went away {MOST_HEADS} times"):
        outlasting_heads(lambda again: os._exit(1), head, False)


def test_what_it_raises_is_said_and_is_its_code(head: str, capfd: pytest.CaptureFixture[str]) -> None:
    def work(again: bool) -> int:
        raise AttnpinError("too hot")

    assert outlasting_heads(work, head, False) == AttnpinError.exit_code and "too hot" in capfd.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reaches_it_and_ends_it_in_order(number: signal.Signals, code: int) -> None:
    program = (
        "import sys, time\nfrom tuner.command_line.termination import listen\nfrom tuner.executors.ray_driver import outlasting_heads\n"
        "listen()\n"
        "def work(again):\n    print('here', flush=True)\n    time.sleep(60)\nsys.exit(outlasting_heads(work, None, False))"
    )
    began = time.monotonic()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == code and said.count(b"Interrupted") == 1 and time.monotonic() - began < 30

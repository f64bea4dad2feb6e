"""`attnpin launch`: the server's command is started as it would be without us, with the pin's flags."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from store.verdicts.verdict import Change, Status, Verdict
from tests.tuner.jobs import ROOT
from tests.tuner.verifying.pinned import written
from tuner import cli, launch

SERVER = """
import json, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(json.dumps([sys.argv[1:], sys.stdin.readline()]), flush=True)
signal.pause()
"""
HOLDS = Verdict(Status.UNCHANGED, (), "nothing the pin rests on has changed", 0)
STALE = Verdict(Status.CHANGED, (Change("torch", "1", "2", ("every arm",)),), "torch changed under the pin", 3)
ADDED = ("--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3")
Started = list[list[str]]


@pytest.fixture(scope="module")
def pin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("pin"))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """The commands that this process would have become."""
    commands: Started = []
    monkeypatch.setattr(launch, "become", lambda command: commands.append(list(command)))
    return commands


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[[Verdict], list[tuple[str, ...]]]:
    """What check --fast will find; the interpreters that it was asked about."""

    def set_to(verdict: Verdict) -> list[tuple[str, ...]]:
        asked: list[tuple[str, ...]] = []
        monkeypatch.setattr(launch, "check_fast", lambda path, settings: asked.append(settings.scenario.engine.command) or verdict)
        return asked

    return set_to


def run(pin: Path, *words: str) -> int:
    return cli.run(["launch", "--pin", str(pin), *words])


def test_signals_exit_code_and_streams_are_the_servers_own(pin: Path) -> None:
    command = [sys.executable, "-P", "-m", "tuner", "launch", "--pin", str(pin), "--", sys.executable, "-c", SERVER, "--model", "a b"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write("for the server\n")
        process.stdin.flush()
        words, line = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 7
        said = process.stderr.read()
    assert words == ["--model", "a b", *ADDED] and line == "for the server\n"
    assert "attnpin: the pin may no longer hold: " in said and f"attnpin: added {' '.join(ADDED)}" in said


def test_no_signal_that_python_ignores_stays_ignored() -> None:
    """A server would never learn that a pipe it writes to is closed."""
    code = "from tuner.launch import become; become(['grep', 'SigIgn', '/proc/self/status'])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    mask = int(done.stdout.split()[1], 16)
    assert not mask & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1)


def test_a_pin_that_holds_gives_its_flags(pin: Path, started: Started, found: Callable[[Verdict], list[tuple[str, ...]]]) -> None:
    asked = found(HOLDS)
    assert run(pin, "--", sys.executable, "-m", "sglang.launch_server") == 0
    assert started == [[sys.executable, "-m", "sglang.launch_server", *ADDED]] and asked == [(sys.executable,)]


def test_an_engines_name_elsewhere_in_the_command_is_a_name(
    pin: Path, started: Started, found: Callable[[Verdict], list[tuple[str, ...]]]
) -> None:
    found(HOLDS)
    assert run(pin, "--", "sglang", "serve", "--served-model-name", "vllm") == 0 and len(started) == 1


def test_overrides_before_the_command_say_where_it_serves(
    pin: Path, started: Started, found: Callable[[Verdict], list[tuple[str, ...]]]
) -> None:
    asked = found(HOLDS)
    assert run(pin, "engine.command=[ssh,node,python3]", "--", "srun", "sglang", "serve", "--", "x=1") == 0
    assert started == [["srun", "sglang", "serve", "--", "x=1", *ADDED]] and asked == [("ssh", "node", "python3")]


@pytest.mark.parametrize(("on_stale", "flags"), [("warn", list(ADDED)), ("default", [])])
def test_a_stale_pin_is_said_and_its_flags_are_added_or_not(
    pin: Path,
    started: Started,
    found: Callable[[Verdict], list[tuple[str, ...]]],
    on_stale: str,
    flags: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    found(STALE)
    assert run(pin, "--on-stale", on_stale, "--", "sglang", "serve") == 0
    assert started == [["sglang", "serve", *flags]]
    out, err = capsys.readouterr()
    assert out == "" and "the pin may no longer hold: changed: torch changed under the pin" in err


def test_a_stale_pin_is_refused_where_that_is_wished(
    pin: Path, started: Started, found: Callable[[Verdict], list[tuple[str, ...]]], capsys: pytest.CaptureFixture[str]
) -> None:
    found(STALE)
    assert run(pin, "--on-stale", "refuse", "--", "sglang", "serve") == 3 and started == []
    assert "not started, the pin may no longer hold: changed: torch" in capsys.readouterr().err


def test_a_pin_whose_evidence_is_gone_may_not_hold(tmp_path: Path, started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    alone = written(tmp_path)
    (tmp_path / "pin.evidence.jsonl.zst").unlink()
    assert run(alone, "--on-stale", "refuse", "--", "sglang", "serve") == 3 and started == []
    assert "it could not be checked: evidence pin.evidence.jsonl.zst" in capsys.readouterr().err


def test_a_users_flag_wins_and_an_unread_file_is_said(
    pin: Path, started: Started, found: Callable[[Verdict], list[tuple[str, ...]]], capsys: pytest.CaptureFixture[str]
) -> None:
    found(HOLDS)
    command = ["sglang", "serve", "--config=server.yaml", "--attention-backend=triton"]
    assert run(pin, "--", *command) == 0 and started == [command]
    err = capsys.readouterr().err
    assert "SGLang passes over --config=server.yaml without an error" in err and "--attention-backend triton is yours" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--"], "there is no command to start|Missing argument"),
        (["engine.path=[x]"], "there is no command to start"),
        (["--", "bash", "-c", "sglang serve"], "takes a whole script"),
        (["--", "vllm", "serve", "M"], "this pin belongs to SGLang, and the command starts vLLM"),
        (["--", "python3", "-m", "vllm.entrypoints.openai.api_server"], "the command starts vLLM"),
        (["--on-stale", "maybe", "--", "sglang"], "maybe"),
    ],
)
def test_a_wrong_request_is_exit_2(pin: Path, started: Started, words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pin, *words) == 2 and started == []
    err = capsys.readouterr().err
    assert any(part in err for part in says.split("|"))


def test_a_program_that_is_not_there_is_exit_2(
    pin: Path, found: Callable[[Verdict], list[tuple[str, ...]]], capsys: pytest.CaptureFixture[str]
) -> None:
    found(HOLDS)
    before = [signal.getsignal(each) for each in (signal.SIGPIPE, signal.SIGXFSZ)]
    try:
        assert run(pin, "--", "no-such-server") == 2
    finally:
        for each, handler in zip((signal.SIGPIPE, signal.SIGXFSZ), before):
            signal.signal(each, handler)
    assert "no-such-server cannot be started (No such file or directory)" in capsys.readouterr().err


def test_a_pin_of_a_simulated_gpu_is_refused(pin: Path, tmp_path: Path, started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    simulated = tmp_path / "pin.yaml"
    simulated.write_text(pin.read_text().replace("gpu: NVIDIA H200", "gpu: simulated H200"))
    assert run(simulated, "--", "sglang", "serve") == 2 and started == []
    assert "made on simulated H200, which is no GPU that anything could serve on" in capsys.readouterr().err

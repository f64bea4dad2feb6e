"""A pin that somebody edited: whatever reads it says so, and nothing is done with flags that nobody measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tuner.verifying.pinned import LOGS, written
from tuner import cli, launch

WHY = "somebody edited one of them; restore both, or write them again with attnpin tune"
SERVE = ("--", sys.executable, "-m", "sglang.launch_server", "--model-path", "m")


@pytest.fixture
def edited(tmp_path: Path) -> str:
    path = written(tmp_path)
    path.write_text(path.read_text().replace("decode-attention-backend: flashinfer", "decode-attention-backend: triton"))
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--to", "sglang"),
        ("export", "--to", "vllm"),
        ("export", "--to", "constraints"),
        ("verify", "--log", str(LOGS / "sglang-0.5.16-default.log")),
        ("triage", "--log", str(LOGS / "sglang-0.5.16-default.log")),
        ("check", "--fast"),
        ("report",),
        ("confirm", *SERVE),
        ("launch", *SERVE),
    ],
    ids=lambda words: "-".join(words[:3]) if words[0] == "export" else words[0],
)
def test_no_command_takes_it(
    edited: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launch, "become", lambda command: pytest.fail(f"started {command}"))
    command, *rest = words
    assert cli.run([command, "--pin", edited, *rest]) == 2
    out, err = capsys.readouterr()
    assert WHY in err and "triton" not in out


@pytest.mark.parametrize(
    ("line", "by_hand"),
    [
        ("version: 0.6.14", "version: 0.6.15"),
        ("gpu: NVIDIA H200", "gpu: NVIDIA H100"),
        ("tensor_parallel: 1", "tensor_parallel: 2"),
        ("digest: ", "digest: 0"),
    ],
)
def test_what_it_was_measured_with_is_no_more_to_be_edited(
    line: str, by_hand: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a bot does that moves every version in a repository."""
    path = written(tmp_path)
    assert line in path.read_text()
    path.write_text(path.read_text().replace(line, by_hand, 1))
    assert cli.run(["check", "--pin", str(path), "--fast"]) == 2
    assert WHY in capsys.readouterr().err


def test_nor_is_it_one_side_of_a_difference(edited: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    assert cli.run(["diff", str(written(tmp_path / "other")), edited]) == 2
    assert WHY in capsys.readouterr().err


def test_it_may_be_read_as_a_hint(edited: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["export", "--pin", edited, "--to", "sglang", "--as-hint"]) == 0
    out, err = capsys.readouterr()
    assert WHY in err and all(line.startswith("#") for line in out.splitlines()) and "triton" in out


def test_a_server_may_be_started_without_it(edited: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    started = list[list[str]]()
    monkeypatch.setattr(launch, "become", lambda command: started.append(list(command)))
    assert cli.run(["launch", "--pin", edited, "--on-stale", "default", *SERVE]) == 0
    assert started == [list(SERVE[1:])] and WHY in capsys.readouterr().err

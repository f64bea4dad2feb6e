"""`attnpin verify` on logs like recorded ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tuner.verifying.pinned import LOGS, written
from tuner import cli
from tuner import verify as story
from tuner.engines.lookup import spoken_by
from tuner.verifying.follow import Clock

NAMES = sorted(path.name for path in LOGS.glob("*.log"))


@pytest.fixture(scope="module")
def unset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("unset"), unset=True)


def verify(pin: Path, *words: str) -> int:
    return cli.run(["verify", "--pin", str(pin), *words])


@pytest.mark.parametrize(
    ("name", "code", "begins"),
    [
        ("sglang-0.5.16-default.log", 0, "as pinned: the server runs fa3, page size 1, KV dtype bfloat16\n"),
        ("sglang-0.5.22-hybrid.log", 1, "different: decode triton instead of fa3\n"),
        ("vllm-0.33.0-eager.log", 3, "not determinable: it is a log of vLLM, and the pin is SGLang's\n"),
    ],
)
def test_the_exit_code_and_the_first_line_are_the_answer(
    unset: Path, name: str, code: int, begins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(unset, "--log", str(LOGS / name)) == code
    assert capsys.readouterr().out.startswith(begins)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_secret_no_path_and_no_address_of_a_log_is_shown(
    unset: Path, name: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verify(unset, "--log", str(LOGS / name), *form)
    out = capsys.readouterr().out
    assert "sk-made-up" not in out and "10.20.30.40" not in out and str(LOGS) not in out
    assert not re.search(r"(?<![\w.])/(?:models|home|tmp|work)\b", out)


def test_json_is_the_record(unset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verify(unset, "--log", str(LOGS / "sglang-0.5.22-hybrid.log"), "--json")
    found = json.loads(capsys.readouterr().out)
    (difference,) = found["servers"][0]["differences"]
    assert (found["standing"], found["exit_code"], difference["what"], difference["found"]) == ("different", 1, "decode", "triton")


def test_several_logs_are_several_servers(unset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = ("sglang-0.5.16-default.log", "sglang-0.5.16-user-triton.log")
    assert verify(unset, *(word for name in logs for word in ("--log", str(LOGS / name)))) == 1
    out = capsys.readouterr().out
    assert "server 1" in out and "server 2" in out and "(1 of 2 servers)" in out


def test_the_share_of_steps_outside_graphs_is_said(unset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verify(unset, "--log", str(LOGS / "sglang-0.5.16-default.log"))
    assert "captured for 6 batch sizes: 1 2 4 8 12 16" in (out := capsys.readouterr().out)
    assert "1 of 4 decode lines (25 %) say that no graph was replayed" in out


def test_rotated_parts_hold_what_the_newest_lost(unset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (LOGS / "sglang-0.5.16-default.log").read_text()
    at = whole.index("\n", whole.index("server_args=")) + 1
    (tmp_path / "server.log").write_text(whole[at:])
    assert verify(unset, "--log", str(tmp_path / "server.log")) == 3
    (tmp_path / "server.log.1").write_text(whole[:at])
    assert verify(unset, "--log", str(tmp_path / "server.log")) == 0
    assert "server.log.1 line 2" in capsys.readouterr().out


class Writing:
    """A clock whose pauses write the next lines of a log, and which counts how often the log was read."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self._path, self._lines, self._now_s = path, lines, 0.0

    def pause(self, seconds: float) -> None:
        self._now_s += seconds
        if self._now_s % 2 == 0 and self._lines:
            with self._path.open("a") as file:
                file.write(self._lines.pop(0))

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self._now_s, self.pause)


def test_a_log_that_is_followed_is_read_again_only_where_it_grew(unset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (LOGS / "sglang-0.5.16-default.log").read_text().splitlines(keepends=True)
    path, reads = tmp_path / "server.log", list[int]()
    path.touch()
    spoken = story.spoken_by("sglang")
    reading = SimpleNamespace(starts=lambda found: reads.append(1) or spoken.starts(found), start_of=None, INFO=(), WORDS=spoken.WORDS)
    monkeypatch.setattr(story, "spoken_by", lambda name: reading if name == "sglang" else spoken_by(name))
    ready = next(number for number, line in enumerate(lines, 1) if "ready to roll" in line)
    found = story.verify(story.Request(unset, (str(path),), follow=True, within_s=100.0), Writing(path, lines).clock)
    assert found.exit_code == 0 and found.servers[0].start.ready and len(reads) == 1 + ready  # once empty


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give either --log FILE, the log of the server, or --url URL"),
        (["--log", "a.log", "--url", "http://x"], "give either --log FILE"),
        (["--log", "-", "--follow"], "--follow cannot look again at a pipe"),
        (["--log", "nowhere.log"], "--log nowhere.log does not exist: check the path"),
        (["--url", "127.0.0.1:1"], "no server answers at --url 127.0.0.1:1"),
    ],
)
def test_a_wrong_request_is_exit_2(unset: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(unset, *words) == 2
    assert says in capsys.readouterr().err


def test_a_pin_of_a_simulated_gpu_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulated = written(tmp_path, unset=True, gpu="simulated H200")
    assert verify(simulated, "--log", str(LOGS / NAMES[0])) == 2
    assert "made on simulated H200, which no server runs on" in capsys.readouterr().err

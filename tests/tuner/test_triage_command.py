"""`attnpin triage`: the story of SGLang issue 17411 from the server's logs, the exit codes, and a wrong request."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn

import pytest

from store.pins.pin_files import read_pin
from store.serving.triaged import Kind
from store.verdicts.verdict import Status, Verdict
from tests.examples import EXAMPLES
from tests.tuner.triaging import telling
from tests.tuner.triaging.serving import decode, printed, start
from tuner import cli
from tuner import triage as story
from tuner.errors import MeasurementInvalid
from tuner.triaging import screen

PACKAGES = ("--packages", "after.txt")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Path) -> Path:
    """Where the pin and the logs of the story lie."""
    shutil.copytree(telling.STORY, tmp_path, dirs_exist_ok=True)
    for file in written.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return telling.written(tmp_path_factory.mktemp("pin")).parent


def triage(*words: str) -> int:
    return cli.run(["triage", "--pin", "pin.yaml", *words])


def test_the_story_of_17411_is_told_from_the_logs_and_a_list_of_packages(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert triage("--log", "server.log", *PACKAGES) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("a release that is known to be slow (attention): flashinfer-python 0.6.1 decodes on SM90 with its fa3 kernels")
    text = "\n".join(rest)
    assert "283.5 ms a token at 64 requests (21 lines), 39.44 ms before the last start (21 lines), ratio 7.189" in text
    assert "recorded in https://github.com/sgl-project/sglang/issues/17411" in text and "as pinned: the server runs flashinfer" in text
    ways = [line.partition("next")[2].strip() for line in rest if line.startswith("  next ")]
    assert ways[0] == "hold flashinfer-python<0.6.0, or take flashinfer-python>=0.6.4"


def test_a_log_that_takes_long_is_answered_twice(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    http = '[2026-01-20 21:00:00] INFO:     10.0.0.1:51874 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    text = (site / "server.log").read_text()
    (site / "server.log").write_text(text + http * 300_000 + text + http)
    assert triage("--log", "server.log", *PACKAGES) == 1
    whole = capsys.readouterr().out
    monkeypatch.setattr(story, "first_answer_due", lambda: lambda: True)
    assert triage("--log", "server.log", *PACKAGES) == 1
    out = capsys.readouterr().out
    first = out.removesuffix(whole)
    assert first != out and " MiB of the log were not looked at yet" in first and "server.log, a line of its end" in first


def test_the_page_shows_the_story_as_it_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage("--log", "server.log", *PACKAGES)
    page = (Path(__file__).parents[2] / "docs" / "running-server.md").read_text()
    assert f"```\n{capsys.readouterr().out}```\n" in page


def test_the_day_before_nothing_spoke_against_attention(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "before.txt").write_text((site / "after.txt").read_text().replace("0.6.1", "0.5.3"))
    assert triage("--log", "server.log.1", "--packages", "before.txt") == 0
    assert capsys.readouterr().out.startswith("nothing against attention (not attention)")


def test_the_repaired_release_is_not_blamed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "after.txt").write_text((site / "after.txt").read_text().replace("0.6.1", "0.6.4"))
    assert triage("--log", "server.log", *PACKAGES) == 3
    assert capsys.readouterr().out.startswith("something changed under the pin (open): flashinfer-python changed")


def test_a_log_of_another_engine_is_said_first_and_attention_is_not_blamed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(Path(__file__).parent / "verifying" / "logs" / "vllm-0.33.0-flash-attn.log", site / "other.log")
    assert triage("--log", "other.log", *PACKAGES) == 3
    first, way, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "too little is known (open): no number of the pin is about this server: it is a log of vLLM, and the pin is SGLang's"
    assert way == "  next     give the pin of what serves here, or the log of what the pin is for" and "may be slow here (open)" in second


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"\x1f\x8b", bytes(range(256)) * 20])
def test_a_log_that_tells_nothing_leaves_open_whether_a_known_release_serves(
    content: bytes, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "other.log").write_bytes(content)
    assert triage("--log", "other.log", *PACKAGES) == 3
    assert capsys.readouterr().out.startswith("a release that may be slow here (open): perhaps on what the pin serves with")


def test_a_rotated_part_that_is_named_too_is_read_once(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage("--log", "server.log", *PACKAGES)
    once = capsys.readouterr().out
    assert triage("--log", "server.log.1", "--log", "server.log", *PACKAGES) == 1
    assert capsys.readouterr().out == once


def test_packed_coloured_logs_of_a_container_tell_the_same(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage("--log", "server.log", *PACKAGES)
    plain = capsys.readouterr().out
    for name in ("server.log.1", "server.log"):
        text = (site / name).read_text()
        (site / name).unlink()
        lines = (f"sglang-1  | \x1b[32m{line}\x1b[0m" for line in text.splitlines())
        (site / f"{name}.gz" if name != "server.log" else site / name).write_bytes(gzip.compress("\n".join(lines).encode()))
    assert triage("--log", "server.log", *PACKAGES) == 1
    assert capsys.readouterr().out.replace("server.log.1.gz", "server.log.1") == plain


def test_json_is_the_record(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage("--log", "server.log", *PACKAGES, "--json")
    out = capsys.readouterr().out
    found = json.loads(out)
    assert found["causes"][0]["kind"] == Kind.KNOWN_BAD.value and found["exit_code"] == 1 and found["final"] is True
    assert found["load"]["pace"]["now_ms"] == pytest.approx(283.52, rel=1e-3)
    assert "sk-made-up" not in out and "10.20.30.40" not in out and "/models" not in out


@pytest.mark.parametrize(
    ("served", "code", "first"),
    [
        ("fa3", 3, "traffic that the pin was not measured for (open): the pin says nothing of this traffic: 1 request at once"),
        ("triton", 1, "not what was pinned (how it is served): the server does not run what was pinned: decode triton instead of fa3"),
        (
            "flashinfer",
            1,
            "not what was pinned (how it is served): the server does not run what was pinned: decode flashinfer instead of fa3",
        ),
    ],
)
def test_servers_recorded_on_an_h200_are_held_against_the_pin_of_their_model(
    served: str, code: int, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pin = EXAMPLES / "qwen3_8b-h200" / "pin.yaml"
    packages = tmp_path / "now.txt"
    packages.write_text("".join(f"{name}=={version}\n" for name, version, _ in read_pin(pin).valid_for.distributions))
    log = Path(__file__).parent / "verifying" / "logs" / f"sglang-0.5.16-h200-{served}.log"
    assert cli.run(["triage", "--pin", str(pin), "--log", str(log), "--packages", str(packages)]) == code
    out = capsys.readouterr().out
    assert out.startswith(first) and "0 of 12 decode lines (0 %) say that no graph was replayed" in out


def test_figures_that_a_profile_gave_outweigh_what_is_on_record(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "f.yaml").write_text("figures:\n- {component: all-reduce, change: slower}\n- {component: attention, change: same}\n")
    assert triage("--log", "server.log", *PACKAGES, "--figures", "f.yaml") == 0
    assert capsys.readouterr().out.startswith("another part of the step (not attention): not attention: all-reduce became slower")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give the log of the server"),
        (["--log", "nowhere.log"], "--log nowhere.log does not exist: check the path"),
        (["--log", "server.log", "--packages", "nowhere.txt"], "--packages nowhere.txt cannot be read"),
        (["--log", "server.log", "--figures", "nowhere.yaml"], "--figures nowhere.yaml cannot be read"),
        (["--log", "server.log", *PACKAGES, "engine.command=[python3]"], "give one of them"),
        (["--log", "server.log", "engine.no_such=1"], "engine.no_such"),
    ],
)
def test_a_wrong_request_is_exit_2(site: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert triage(*words) == 2
    assert says in capsys.readouterr().err


def test_where_the_engine_is_not_what_changed_stays_open(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In attnpin's own Python, which is looked at unless another is named."""
    assert triage("--log", "server.log") == 3
    out = capsys.readouterr().out
    assert "SGLang is not in the Python that was asked; name the one that serves (engine.command=...), or --packages FILE" in out
    assert out.startswith("slower, and nothing here says why (open): decode is slower")


def test_a_command_that_does_not_start_leaves_the_answer_of_the_log(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert triage("--log", "server.log", "engine.command=[/no/such/python]") == 3
    assert "what changed under the pin was not looked at: engine.command=" in capsys.readouterr().out


@pytest.fixture
def address() -> Iterator[str]:
    """Of a server that answers what it serves."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"attention_backend": "triton", "page_size": 1, "device": "cuda"}).encode())

        def log_message(self, format: str, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_the_server_is_asked_where_its_log_does_not_tell(site: Path, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "cut.log").write_text(printed([decode(64)] * 20))
    assert triage("--log", "cut.log", *PACKAGES, "--url", address) == 1
    assert "not what was pinned" in capsys.readouterr().out


def busy(*_: object) -> NoReturn:
    raise MeasurementInvalid("NVIDIA H20 is used by others: 40.0 GiB are taken")


def test_a_served_gpu_that_is_seen_is_measured_after_the_first_answer(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the GPU says comes from `attnpin check`'s own screen, which has its tests; here it is in use."""
    monkeypatch.setattr(story, "fast_verdict", lambda *_: (Verdict(Status.UNCHANGED, (), "as it was", 0), telling.run().environment))
    monkeypatch.setattr(story, "engine_version", lambda *_: "0.5.8")
    monkeypatch.setattr(screen, "screened", busy)
    (site / "now.log").write_text(printed([*start("flashinfer", tp_size=4), *[decode(64, tokens=64 * 12500)] * 20]))
    assert triage("--log", "now.log") == 0
    out = capsys.readouterr().out
    assert "the GPU is measured now, a minute at most" in out and "the GPU was not measured: NVIDIA H20 is used by others" in out
    assert out.count("nothing against attention (not attention)") == 2
    assert triage("--log", "now.log", "--fast") == 0
    assert "the GPU" not in capsys.readouterr().out

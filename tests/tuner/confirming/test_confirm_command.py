"""`attnpin confirm` on processes that speak as SGLang does: its server, its benchmarks, what they print and what they write.

About 30 of them are started one after the other, which takes 10 s: that nothing of them is left behind shows in processes alone.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import read_pin, verify_evidence
from store.serving.serving_run import ServedStart
from tests.tuner.confirming.standing import FEW, WHOLE, left_behind, server, starts
from tests.tuner.confirming.test_judge import start as measured
from tests.tuner.jobs import ROOT
from tests.tuner.verifying.pinned import written as pin
from tuner import cli
from tuner import confirm as story
from tuner.confirming import benchmark, start
from tuner.confirming.start import Bed


@pytest.fixture(autouse=True)
def a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nobody may ask for a server of this machine."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


def confirm(path: Path, *options: str, command: list[str] | None = None) -> int:
    lengths = () if set(WHOLE) <= set(options) else FEW
    return cli.run(["confirm", "--pin", str(path), *lengths, *options, "--", *(command or server(model=path.parent))])


def test_a_faster_pin_is_confirmed_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STANDIN_TIMES", json.dumps({"flashinfer": 10, "triton": 12}))
    path = pin(tmp_path)
    command = server("--api-key", "sk-made-up", model=tmp_path)  # whatever asks it is told
    assert confirm(path, "--against", "--attention-backend triton", "--write", command=command) == 0
    out, err = capsys.readouterr()
    assert out.startswith("improved: median ITL with the pin is ") and "3 starts a side" in out
    assert "pin          prefill fa3, decode flashinfer, started with --decode-attention-backend flashinfer" in out
    assert "start 6 of 6" in err and not left_behind(tmp_path)
    (kept,) = read_evidence(verify_evidence(path, read_pin(path))).serving_runs
    assert all(each.ratio.low < 10 / 12 < each.ratio.high for each in kept.contrasts)
    assert len(kept.starts) == 6 and not any(each.settings for each in kept.starts)
    line = next(line for line in path.with_name("pin.md").read_text().splitlines() if line.startswith("- **Measured effect**"))
    assert "confirmed by a serving run: prefill fa3, decode flashinfer against triton, median ITL ratio 0.83" in line
    one, *others = sent(tmp_path)
    assert len(others) == 5 and all(each == one for each in others) and [len(level) for level in one] == [4, 32]
    assert "SIGTERM" not in next(tmp_path.rglob("01-*.server.log")).read_text()  # SGLang would take 8 s over it
    assert "sk-made-up" not in json.dumps(starts(tmp_path)) and dict(starts(tmp_path)[0]["settings"])["chunked_prefill_size"] == "8192"


def sent(folder: Path) -> list[list[list[tuple[list[int], int, int]]]]:
    """In every start, at every concurrency: (first token, tokens, tokens of the answer) of each request."""
    return [[json.loads(line)["sent"] for line in file.read_text().splitlines()] for file in sorted(folder.rglob("0?-*.jsonl"))]


def test_servers_that_differ_in_more_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = pin(tmp_path).read_text()
    trace = tmp_path / "requests.csv"
    trace.write_text("prompt_tokens,output_tokens\n" + "".join(f"{length},{length // 3}\n" for length in range(30, 90)))
    command = server("--more-flashinfer", "-90000")
    assert confirm(tmp_path / "pin.yaml", "--write", *WHOLE, f"traffic.path={trace}", command=command) == 3
    assert all(output == prompt // 3 for level in sent(tmp_path)[0] for _, prompt, output in level)
    assert "void: the KV pool differs: 722345 tokens with the pin and 812345 without it" in capsys.readouterr().out
    assert len(starts(tmp_path)) == 2 and (tmp_path / "pin.yaml").read_text() == before


def test_a_server_that_does_not_take_the_pin_is_not_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert confirm(pin(tmp_path), command=server("--deaf")) == 3
    assert "the server is not what was pinned, different: decode fa3 instead of flashinfer" in capsys.readouterr().out


def test_a_server_that_does_not_start_shows_the_end_of_its_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert confirm(pin(tmp_path), command=server("--broken-flashinfer")) == 3
    err = capsys.readouterr().err
    assert "RuntimeError: no kernel image is available" in err
    assert "with the pin, did not start: it ended with exit code 1; above is the end of its log, " in err


def test_what_a_log_says_to_a_terminal_is_not_passed_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd").write_text("import sys; print('\\x1b]0;title\\x07' + 'x' * 5_000_000 + '\\x1b[2Jgone', flush=True); sys.exit(3)")
    assert confirm(pin(tmp_path), "--python", sys.executable, command=[sys.executable, str(tmp_path / "odd")]) in (3, 4)
    err = capsys.readouterr().err
    assert "\x1b" not in err and max(map(len, err.splitlines())) < 400


def test_a_server_that_never_answers_is_given_up_and_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert confirm(pin(tmp_path), "--within", "1", command=server("--silent", model=tmp_path)) == 3
    assert "was not ready after 1 s (wait longer with --within)" in capsys.readouterr().err and not left_behind(tmp_path)


def test_requests_that_fail_measure_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STANDIN_FAILS", "1")
    assert confirm(pin(tmp_path)) == 4
    assert "1 of 4 requests at concurrency 1 were answered" in capsys.readouterr().err and not starts(tmp_path)


def test_a_benchmark_that_hangs_is_ended_with_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANDIN_HANGS", str(tmp_path / "hangs"))
    monkeypatch.setattr(start, "send", lambda *words: benchmark.send(*words, longest_s=1.0))
    assert confirm(pin(tmp_path)) == 4
    assert "hung, and was ended after 1 s" in capsys.readouterr().err and not left_behind(tmp_path)


def test_a_benchmark_that_cannot_be_imported_is_told_before_the_server_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANDIN_LACKS", "aiohttp")
    assert confirm(pin(tmp_path), command=server("--silent", model=tmp_path)) == 4
    err = capsys.readouterr().err
    assert "No module named 'aiohttp'" in err and "failed with exit code 1 while the server started" in err and not left_behind(tmp_path)


def test_a_benchmark_whose_standard_input_is_closed_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapped = ["sh", "-c", 'exec "$@" </dev/null', "exec"]  # as docker exec without -i
    python = shlex.join([*wrapped, *server()[:3]])
    assert confirm(pin(tmp_path), "--python", python) == 4
    assert "docker, podman and kubectl hand it on with -i" in capsys.readouterr().err


def test_a_server_that_ends_under_the_benchmark_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANDIN_ENDS", str(tmp_path / "pid"))
    assert confirm(pin(tmp_path)) == 4
    assert "was ended, since the server ended under it with exit code -9" in capsys.readouterr().err and not left_behind(tmp_path)


def test_a_pin_written_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pin(tmp_path)
    newer = path.read_text().replace("run: 7f3a9c", "run: 8a4bad")

    def meanwhile(bed: Bed, number: int, block: int, pinned: bool) -> ServedStart:
        path.write_text(newer)
        return measured(block, pinned, {16: 10.0})

    monkeypatch.setattr(story, "one_start", meanwhile)
    assert confirm(path, "--write") == 2
    assert "pin.yaml was changed while it was measured" in capsys.readouterr().err and path.read_text() == newer


def test_an_interrupted_confirmation_goes_on_and_leaves_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = pin(tmp_path)
    words = ["confirm", "--pin", str(path), *FEW, "--", *server(model=tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "tuner", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "start 3 of 6" in line:
                process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143, said
    measured = starts(tmp_path)
    assert len(measured) == 2 and not left_behind(tmp_path)
    assert cli.run(words) == 0
    assert starts(tmp_path)[:2] == measured and len(starts(tmp_path)) == 6
    capsys.readouterr()
    assert cli.run(words) == 0  # nothing is left to do
    assert "start" not in capsys.readouterr().err


def test_one_batch_at_a_time_needs_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert confirm(pin(tmp_path), "--engine-bench", "one-batch", "--against", "--attention-backend triton") == 0
    out = capsys.readouterr().out
    assert out.startswith("improved: ") and "ITL p99" not in out and "one batch at a time, without a server" in out


@pytest.mark.parametrize(
    ("options", "unset", "command", "why"),
    [
        ((), True, None, "both sides would be the same server, since the pin sets no flag"),
        ((), False, server("--decode-attention-backend=fa3"), "CMD sets --decode-attention-backend itself (the command line)"),
        (("--concurrency", "a"), False, None, "--concurrency a is no list of whole numbers"),
        (("model=qwen3_8b",), False, None, "confirm takes traffic.path=FILE and what belongs to it before CMD, and model=qwen3_8b"),
        (("traffic.path=nowhere.csv", "--starts", "3"), False, None, "--starts stands where the server's command begins; options go first"),
        (("traffic.path=nowhere.csv",), False, None, "traffic.path=nowhere.csv does not exist: check the path"),
        (("--prompt-tokens", "99999999"), False, None, "tokens do not fit a context of"),
        (
            (),
            False,
            server("--ssl-keyfile", "k.pem"),
            "CMD serves over TLS (--ssl-keyfile), and confirm asks it from this machine over plain",
        ),
        (("--concurrency", "1,9999999999"), False, None, "requests a start are more than the 200000 that can be sent; set --concurrency"),
        (("--against", "'open"), False, None, "--against 'open is no list of words (No closing quotation)"),
        (("--against", "--attention-backend"), False, None, "--against --attention-backend names no value; write both in one word"),
        (("--python", "'open"), False, None, "--python 'open is no list of words (No closing quotation)"),
        ((), False, [""], "'' cannot be started (no such program)"),
        ((), False, ["sleep", "1"], "sleep does not show which Python runs the engine's benchmark; name it with --python"),
        ((), False, ["no-such-server", "serve"], "no-such-server cannot be started (no such program)"),
        ((), False, ["vllm", "serve", "m"], "this pin belongs to SGLang, and the command starts vLLM"),
        (("--engine-bench", "one-batch"), False, ["python3", "serve.py"], "is no way to start sglang that attnpin knows"),
    ],
)
def test_what_cannot_be_compared_starts_nothing(
    tmp_path: Path,
    options: tuple[str, ...],
    unset: bool,
    command: list[str] | None,
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert confirm(pin(tmp_path, unset), *options, command=command) == 2
    assert why in capsys.readouterr().err

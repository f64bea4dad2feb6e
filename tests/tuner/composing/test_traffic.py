"""`traffic=trace traffic.path=F` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.traffic import Lengths
from tests.tuner.composed import refusal
from tuner.cli import run
from tuner.settings import compose

TABLE = "arrival_s,prompt_tokens,output_tokens\n" + "".join(f"{number},{500 + number},{20 + number % 5}\n" for number in range(100))


@pytest.fixture
def log(tmp_path: Path) -> str:
    (tmp_path / "monday.csv").write_text(TABLE + "100,-1,5\n")
    return str(tmp_path / "monday.csv")


def test_name_and_lengths_come_from_the_file_and_what_the_user_says_stays(log: str) -> None:
    settings = compose(["traffic=trace", f"traffic.path={log}"])
    traffic = settings.scenario.traffic
    assert (traffic.name, traffic.prompt, traffic.output) == ("monday", Lengths(550, 594), Lengths(22, 24))
    assert settings.pin_path == Path("pins/tiny-monday/pin.yaml") and settings.trace is not None and settings.trace.rows == 101
    named = compose(["traffic=trace", f"traffic.path={log}", "traffic.name=ours", "traffic.limits.pool_tokens=5000"])
    assert named.scenario.traffic.name == "ours" and named.trace is not None and named.trace.limits.pool_tokens == 5000


def test_plan_shows_source_rows_read_and_bad_cells_and_coverage(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "model=qwen3_8b", "gpu=h200", "traffic=trace", f"traffic.path={log}"]) == 0
    text = capsys.readouterr().out
    assert "Traffic\n  monday: 101 rows read as columns, 1 of them left out" in text
    assert "1 row was left out: prompt tokens are negative (row 102)" in text
    assert "of the predicted attention time, within a factor of 2" in text and "\n  decode-" in text and "\n  prefill-" in text


def test_plan_gives_the_record_as_data(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--json", "model=qwen3_8b", "gpu=h200", "traffic=trace", f"traffic.path={log}"]) == 0
    recorded = json.loads(capsys.readouterr().out)["scenario"]["traffic"]["recorded"]
    assert (recorded["rows"], recorded["bad"]) == (101, 1) and len(recorded["sha256"]) == 64


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "has no column that is known"),
        (TABLE.encode("utf-16"), "is UTF-16"),
        (b"arrival_s,prompt_tokens,output_tokens\n1,-5,-5\n", "holds no request"),
    ],
)
def test_a_file_that_is_no_traffic_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str) -> None:
    (tmp_path / "log").write_bytes(content)
    assert run(["plan", "traffic=trace", f"traffic.path={tmp_path / 'log'}"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["traffic=trace"], "traffic=trace reads a log or a data set; give traffic.path=FILE"),
        (["traffic=trace", "traffic.path=nowhere.csv"], "traffic.path=nowhere.csv does not exist: check the path"),
        (["traffic=chat", "traffic.path=log.csv"], "traffic.path is read with traffic=trace alone, and traffic chat has its lengths"),
        (["traffic=chat", "traffic.limits.pool_tokens=5"], "traffic.limits belongs to traffic=trace, and traffic chat has its lengths"),
        (["traffic=chat", "traffic.trace.columns.prompt=n"], "traffic.trace belongs to traffic=trace"),
    ],
)
def test_what_belongs_to_a_file_is_not_given_without_one(overrides: list[str], said: str) -> None:
    assert said in refusal(*overrides)


@pytest.mark.parametrize(
    "senseless", ["limits.pool_tokens=0", "limits.accepted_length=0.5", "trace.requests_per_s=-1.0", "trace.most_requests=0"]
)
def test_a_senseless_bound_is_refused(log: str, senseless: str) -> None:
    assert f"traffic.{senseless} is not possible" in refusal("traffic=trace", f"traffic.path={log}", f"traffic.{senseless}")


@pytest.mark.parametrize(
    ("line", "senseless"), [("", "traffic.trace.requests_per_s=-1.0"), ("", "traffic.concurrency=0"), ("", "measure.seed=-1")]
)
def test_what_a_file_is_read_with_is_checked_before_it_is_read(tmp_path: Path, line: str, senseless: str) -> None:
    """A log without arrivals draws them at once; a large one is read for minutes first."""
    (log := tmp_path / "log.csv").write_text(f"prompt_tokens,output_tokens\n300,20\n{line}")
    assert f"{senseless} is not possible" in refusal("traffic=trace", f"traffic.path={log}", senseless)
    assert "is not possible" in refusal("traffic=trace", f"traffic.path={tmp_path / 'nowhere'}", senseless)

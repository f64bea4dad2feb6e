from __future__ import annotations

from pathlib import Path

import pytest

from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import read_pin, verify_evidence
from tuner import cli
from tuner.decide import decide
from tuner.demo.recordings import TUNED, names, recording


@pytest.mark.parametrize("name", names())
def test_the_demo_decides_afresh_and_writes_the_pins_three_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", name, "--fast", "--out", str(tmp_path / "out")]) == 0
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["pin.evidence.jsonl.zst", "pin.md", "pin.yaml"]
    pin = read_pin(tmp_path / "out" / "pin.yaml")
    again = decide(recording(name))
    assert (pin.flags, pin.unset) == (again.flags, None if again.flags else again.unset_because)
    assert read_evidence(verify_evidence(tmp_path / "out" / "pin.yaml", pin)).decision == again
    assert f"attnpin report --pin {tmp_path / 'out' / 'pin.yaml'}\n" in capsys.readouterr().out


def test_the_first_line_says_that_the_numbers_are_recorded_on_which_board_and_when(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.run(["demo", "tune", "--fast", "--out", str(tmp_path)]) == 0
    first = capfd.readouterr().out.splitlines()[0]
    run = recording(TUNED)
    assert first.startswith("Recorded, not measured here: ") and run.environment.board.name in first and run.created[:10] in first


def test_a_pin_that_is_there_is_not_replaced_by_recorded_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pin.yaml").write_text("mine")
    assert cli.run(["demo", "tune", "--fast", "--out", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "is there already and the demo replaces no pin; give another folder with --out" in captured.err and captured.out == ""
    assert (tmp_path / "pin.yaml").read_text() == "mine"


def test_a_place_that_takes_no_file_is_told_before_anything_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "file").touch()
    assert cli.run(["demo", "tune", "--fast", "--out", str(file / "in")]) == 2
    captured = capsys.readouterr()
    assert f"--out {file / 'in'} cannot be written: {file} is no folder" in captured.err and captured.out == ""


def test_an_unknown_recording_is_a_usage_error_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "qwen3-8b", "--out", str(tmp_path / "out")]) == 2
    assert "no recorded run is called 'qwen3-8b'" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_run_whose_pin_is_not_kept_is_told_without_what_to_do_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "tune", "--fast"]) == 0
    out = capsys.readouterr().out
    assert "\nflags     unset, because no arm beat the default" in out and "\nleft out  backends: " in out
    assert not [line for line in out.splitlines() if line.startswith(("pin ", "report ", "next "))]

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import read_pin, verify_evidence
from tests.test_layers import KERNEL_LIBRARIES
from tuner import cli
from tuner.decide import decide
from tuner.demo.recordings import names, recording

ROOT = Path(__file__).parents[3]


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
    assert cli.run(["demo", "--fast", "--out", str(tmp_path)]) == 0
    first = capfd.readouterr().out.splitlines()[0]
    run = recording("qwen3_8b-h200")
    assert first.startswith("Recorded, not measured here: ") and run.environment.board.name in first and run.created[:10] in first


def test_a_pin_that_is_there_is_not_replaced_by_recorded_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pin.yaml").write_text("mine")
    assert cli.run(["demo", "--fast", "--out", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "is there already and the demo replaces no pin; give another folder with --out" in captured.err and captured.out == ""
    assert (tmp_path / "pin.yaml").read_text() == "mine"


def test_a_place_that_takes_no_file_is_told_before_anything_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "file").touch()
    assert cli.run(["demo", "--fast", "--out", str(file / "in")]) == 2
    captured = capsys.readouterr()
    assert f"--out {file / 'in'} cannot be written: {file} is no folder" in captured.err and captured.out == ""


def test_an_unknown_recording_is_a_usage_error_and_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "qwen3-8b", "--out", str(tmp_path / "out")]) == 2
    assert "no recorded run is called 'qwen3-8b'" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_demo_runs_without_torch_and_leaves_its_pin_in_a_new_folder(tmp_path: Path) -> None:
    blocked = f"import sys\nfor name in {KERNEL_LIBRARIES!r}: sys.modules[name] = None\n"
    code = f"{blocked}from tuner.cli import run; sys.exit(run(['demo']))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [pin.parent.name[:13] for pin in tmp_path.glob("*/pin.yaml")] == ["attnpin-demo-"]

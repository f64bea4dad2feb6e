"""The bare command: three chapters on two screens, for somebody who has just installed attnpin and has no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from store.pins.pin_files import read_pin
from tests.test_layers import KERNEL_LIBRARIES
from tuner import cli
from tuner.comparing.recorded import judged, recorded
from tuner.demo.recordings import COMPARISONS, CURE, TUNED, UPGRADE, comparison, recording
from tuner.demo.replay import PARTS, PLAYED_S, pace_for, pace_of
from tuner.demo.upgrade import followed

ROOT = Path(__file__).parents[3]
TWO_SCREENS = 60  # lines of talk and answer together
NO_NETWORK = "import socket\ndef none(*a, **k): raise OSError('no network')\nsocket.socket.connect = none\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def away(home: Path) -> subprocess.CompletedProcess[str]:
    """Without torch and without a network, from a home that is the temporary folder too."""
    blocked = f"import sys\nfor name in {KERNEL_LIBRARIES!r}: sys.modules[name] = None\n{NO_NETWORK}"
    code = f"{blocked}from tuner.cli import run; sys.exit(run(['demo']))"
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run([sys.executable, "-c", code], cwd=home, env=environment, capture_output=True, text=True, timeout=60)


def test_it_needs_no_gpu_and_no_network_and_leaves_nothing_behind(away: subprocess.CompletedProcess[str], home: Path) -> None:
    assert away.returncode == 0, away.stderr
    assert list(home.rglob("*")) == []


def test_tune_upgrade_and_cure_are_told_in_this_order(away: subprocess.CompletedProcess[str]) -> None:
    chapters = [line for line in away.stdout.splitlines() if line[:3] in ("1  ", "2  ", "3  ")]
    assert [line[3:].split(":")[0] for line in chapters] == ["The tune", "The upgrade that regresses", "The cure"]
    assert "flashinfer-python 0.5.3 -> 0.6.1" in chapters[1] and "flashinfer-python 0.5.3 -> 0.6.4" in chapters[2]
    answers = ["flags     unset, because no arm beat the default", "\nregressed: flashinfer/p1,decode_backend=auto@kernel", "way out: hold"]
    places = [away.stdout.index(answer) for answer in answers]
    assert places == sorted(places)


def test_it_says_first_that_nothing_was_measured_here(away: subprocess.CompletedProcess[str]) -> None:
    first = away.stdout.splitlines()[0]
    assert first.startswith(f"Recorded on an {recording(TUNED).environment.board.name}, not measured here.")


def test_it_fits_on_two_screens(away: subprocess.CompletedProcess[str]) -> None:
    told = (*away.stdout.splitlines(), *away.stderr.splitlines())
    assert len(told) <= TWO_SCREENS and max(map(len, told)) < 200


def test_the_answers_are_on_stdout_and_the_way_there_on_stderr(away: subprocess.CompletedProcess[str]) -> None:
    assert all(line.startswith("attnpin: ") for line in away.stderr.splitlines())
    assert "attnpin: round 4 of 4" in away.stderr and "attnpin: pair 6 of 9" in away.stderr and "attnpin: " not in away.stdout


def test_every_cell_of_the_pinned_arm_is_slower_after_the_upgrade_and_as_it_was_after_the_cure(
    away: subprocess.CompletedProcess[str],
) -> None:
    verdicts = {part: judged(comparison(part)) for part in COMPARISONS}
    arm = followed(verdicts[UPGRADE])
    rows = {part: {row.cell: row.verdict.label.value for row in found.rows if row.arm == arm} for part, found in verdicts.items()}
    assert set(rows[UPGRADE].values()) == {"regressed"} and rows[CURE][None] == "equivalent"
    for cell in filter(None, rows[UPGRADE]):
        (line,) = (line for line in away.stdout.splitlines() if line.split()[:1] == [cell] and "regressed" in line)
        assert line.endswith(rows[CURE][cell])


def test_the_parts_tell_of_one_model_on_cells_of_the_same_names() -> None:
    run, compared = recording(TUNED), [comparison(part) for part in COMPARISONS]
    assert {each.baseline.scenario.model.name for each in compared} == {run.scenario.model.name}
    cells = [{weighted.cell.name for weighted in each.baseline.cells} for each in compared]
    assert cells[0] == cells[1] <= {weighted.cell.name for weighted in run.cells}


def test_with_a_folder_the_files_of_every_part_are_kept_and_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "--fast", "--out", str(tmp_path)]) == 0
    assert read_pin(tmp_path / "pin.yaml").flags == ()
    assert all(recorded(tmp_path / part) == comparison(part) for part in COMPARISONS)
    assert f"attnpin report --comparison {tmp_path / CURE}\n" in capsys.readouterr().out
    assert cli.run(["demo", "--fast", "--out", str(tmp_path)]) == 2
    assert "is there already and the demo replaces no pin" in capsys.readouterr().err


def test_one_comparison_in_the_way_is_enough_to_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / CURE).mkdir()
    (tmp_path / CURE / "comparison.md").write_text("mine")
    assert cli.run(["demo", "--fast", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().out == "" and not (tmp_path / "pin.yaml").exists()


def test_the_three_parts_share_the_waiting_of_one() -> None:
    parts = [pace_for(recording(TUNED), waiting=True, brief=True), pace_of(1000.0, waiting=True, brief=True)]
    alone = [pace_for(recording(TUNED), waiting=True), pace_of(1000.0, waiting=True)]
    assert [part.per_second * PARTS for part in parts] == pytest.approx([each.per_second for each in alone])
    assert PLAYED_S < 30

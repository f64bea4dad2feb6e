from __future__ import annotations

from pathlib import Path

import pytest

from tuner import cli
from tuner.comparing.recorded import COMMAND, EVIDENCE, MARKDOWN, recorded
from tuner.demo.recordings import COMPARISONS, folder


def test_the_story_is_told_in_its_order_from_recorded_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "upgrade", "--fast"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("Recorded, not measured here: qwen3_235b_a22b on NVIDIA H200")
    assert "pinned: flashinfer/p1,decode_backend=auto@kernel (auto" in told.err and "flashinfer-python 0.5.3" in told.err
    last = [line for line in told.err.splitlines() if "pair 9 of 9" in line]
    assert last and "flashinfer/p1,decode_backend=auto@kernel: 5 regressed; flashinfer/p1@kernel: 4 equivalent, 1 open" in last[-1]
    parts = ["regressed: flashinfer/p1,decode_backend=auto@kernel takes", "issues/17411", "the cure: flashinfer/p1@kernel asks for fa2"]
    places = [told.out.index(part) for part in parts]
    assert places == sorted(places)


def test_the_cure_alone_is_told_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "cure", "--fast"]) == 0
    told = capsys.readouterr()
    assert "flashinfer-python 0.6.4" in told.out and "regressed" not in told.out
    (last,) = (line for line in told.err.splitlines() if "pair 9 of 9" in line)
    assert "flashinfer/p1,decode_backend=auto@kernel: 4 equivalent, 1 open" in last


@pytest.mark.parametrize("part", COMPARISONS)
def test_its_files_are_those_of_the_comparison_and_replace_nothing(part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", part, "--fast", "--out", str(tmp_path / "out")]) == 0
    assert recorded(tmp_path / "out") == recorded(folder() / "upgrade" / COMPARISONS[part])
    for file in (MARKDOWN, COMMAND):
        assert (tmp_path / "out" / file).read_text() == (folder() / "upgrade" / COMPARISONS[part] / file).read_text()
    assert cli.run(["demo", part, "--fast", "--out", str(tmp_path / "out")]) == 2
    assert "is there already and the demo replaces nothing; give another folder with --out" in capsys.readouterr().err


def test_a_folder_that_takes_no_file_is_refused_before_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "upgrade", "--fast", "--out", "/proc/out"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "--out /proc/out: a new file in /proc cannot be written" in told.err


def test_a_comparison_that_is_not_there_is_named_with_where_one_comes_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["report", "--comparison", str(tmp_path)]) == 2
    assert f"there is no {tmp_path / EVIDENCE}; give the folder that attnpin compare --out wrote" in capsys.readouterr().err


def test_a_word_that_is_nearly_it_leads_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["demo", "upgrad"]) == 2
    assert "did you mean upgrade?" in capsys.readouterr().err

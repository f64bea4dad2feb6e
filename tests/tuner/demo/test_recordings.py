from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tuner.comparing.recorded import EVIDENCE
from tuner.demo import recordings
from tuner.demo.recordings import COMPARISONS, TUNED, names, recording
from tuner.errors import UsageError

ROOT = Path(__file__).parents[3]


def test_a_checkout_has_its_recordings_in_the_examples() -> None:
    assert TUNED in names()
    assert all((ROOT / "examples" / "upgrade" / name / EVIDENCE).is_file() for name in COMPARISONS.values())
    assert set(names()) == {pin.parent.name for pin in (ROOT / "examples").glob("*/pin.yaml")}


def test_an_installed_package_has_them_beside_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "recordings" / "made-here"
    place.mkdir(parents=True)
    (place / "pin.evidence.jsonl.zst").write_bytes((ROOT / "examples" / TUNED / "pin.evidence.jsonl.zst").read_bytes())
    (tmp_path / "recordings" / "README.md").write_text("no recording")
    monkeypatch.setattr(recordings, "files", lambda package: tmp_path)
    assert names() == ("made-here",)
    assert recording("made-here").environment.board.name == "NVIDIA H200"


def test_the_wheel_takes_the_examples_to_where_they_are_looked_for() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"]["examples"] == "tuner/recordings"
    assert "/examples" in build["sdist"]["include"]


def test_an_unknown_recording_gets_the_nearest_names() -> None:
    with pytest.raises(UsageError, match="no recorded run is called 'qwen3_8b-h2000'; did you mean qwen3_8b-h200"):
        recording("qwen3_8b-h2000")

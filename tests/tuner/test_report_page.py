"""`report --html`: of a pin, of a run in a store, of a comparison."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reports.web import ink
from store.database.connect import open_store
from store.pins.pin_files import write_pin
from store.runs.repository import begin_run
from tests.examples import comparisons
from tests.reports import building
from tuner.cli import run


@pytest.fixture
def pin(tmp_path: Path) -> Path:
    path = tmp_path / "pin.yaml"
    write_pin(path, building.pin(), "# why\n", building.run(building.decision()))
    return path


def test_a_pin_becomes_a_page_with_its_flags_and_nothing_is_printed(pin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "report.html"
    out.parent.mkdir()
    assert run(["report", "--pin", str(pin), "--html", str(out)]) == 0
    text = out.read_text()
    assert "--decode-attention-backend flashinfer" in text and "attnpin check --pin pin.yaml --fast" in text
    assert text.count("<svg") > 5 and capsys.readouterr().out == ""


def test_a_stored_run_becomes_one_too_without_a_word_of_where_it_was_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ink, "drawn", lambda *_: "<svg></svg>")
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    begin_run(open_store(url), replace(building.run(building.decision()), id="kept"), fresh=True)
    assert run(["report", "--run", "kept", "--html", "-", f"store.url={url}"]) == 0
    text = capsys.readouterr().out
    assert "run kept" in text and "attnpin check --pin" not in text
    assert not any(word in text for word in ("alice", "gpu07", "bob", "pw@"))


def test_a_comparison_becomes_one_too(tmp_path: Path) -> None:
    out = tmp_path / "upgrade.html"
    assert run(["report", "--comparison", str(comparisons()[0]), "--html", str(out)]) == 0
    assert "regressed" in out.read_text() and "Candidate against baseline" in out.read_text()


@pytest.mark.parametrize("other", ["--md", "--json", "--explain"])
def test_a_page_is_no_other_form(pin: Path, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--pin", str(pin), "--html", "-", other]) == 2
    assert "--html is a page of its own" in capsys.readouterr().err


def test_a_folder_is_no_place_for_a_page(pin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--pin", str(pin), "--html", str(tmp_path)]) == 2
    assert "is a folder; choose another path" in capsys.readouterr().err


def test_without_matplotlib_it_is_said_how_to_get_it(
    pin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["report", "--pin", str(pin), "--html", str(tmp_path / "report.html")]) == 2
    assert 'pip install "attnpin[plot]"' in capsys.readouterr().err and not (tmp_path / "report.html").exists()

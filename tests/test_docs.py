from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests import docs
from tests.docs import DOCS, ROOT, pages, problems
from tests.pages import recording
from tests.tuner import building
from tuner import cli
from tuner.conclude import write
from tuner.decide import decide


def test_the_pages_made_from_data_are_what_the_data_says() -> None:
    for name, text in pages().items():
        assert (DOCS / name).read_text() == text, f"docs/{name} is stale: run make docs"


def test_every_figure_is_what_it_cites_and_the_picture_shows_what_the_demo_prints() -> None:
    assert list(problems()) == []


def test_the_results_of_the_readme_and_the_comparison_with_the_engine_are_cited() -> None:
    for page in (ROOT / "README.md", DOCS / "against-the-engine.md"):
        assert page.read_text().count("<!-- figures") > 1


def test_a_check_names_page_and_figure_and_leaves_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(docs, "problems", lambda: iter(["README.md: 3 cites nothing"]))
    assert docs.main(["--check"]) == 1
    assert capsys.readouterr().err == "README.md: 3 cites nothing; make docs\n"


def test_the_words_of_a_picture_are_those_it_was_made_of() -> None:
    text = "one two\n" + "long " * 60 + "\n|  [o]  <&> |\n"
    assert recording.words(recording.picture(text)) == f"$ {recording.COMMAND} {text}".split()


def test_a_picture_is_the_same_each_time() -> None:
    again = "from tests.pages.recording import picture; print(picture('a line\\nand another'), end='')"
    done = subprocess.run([sys.executable, "-c", again], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == recording.picture("a line\nand another")


def test_the_sentences_explained_are_sentences_the_tool_says() -> None:
    source = "".join(path.read_text() for room in ("tuner", "reports", "store") for path in (ROOT / room).rglob("*.py"))
    cells = [line.split("|")[1] for line in (DOCS / "inconclusive.md").read_text().splitlines() if line.startswith("| `")]
    explained = [phrase for cell in cells for phrase in re.findall(r"`([^`]+)`", cell)]
    assert len(explained) > 8
    assert [phrase for phrase in explained if phrase not in source] == []


def test_the_launcher_that_a_page_adds_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "extending.md").read_text()
    entry, code = (re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[-1] for language in ("yaml", "python"))
    (tmp_path / "launcher").mkdir()
    (tmp_path / "launcher" / "dockerfile.yaml").write_text(entry)
    (tmp_path / "dockerfile.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    run = building.one_cell_each({"fa3": (256.0, 131.0), "flashinfer": (300.0, 119.0)})
    write(replace(run, decision=(decision := decide(run))), decision, tmp_path / "pin.yaml")
    assert cli.run(["export", "--pin", str(tmp_path / "pin.yaml"), "--to", "dockerfile", "--config-dir", str(tmp_path)]) == 0
    flags = '"--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3"'
    assert capsys.readouterr().out == f'CMD ["sglang", "serve", {flags}]\n'

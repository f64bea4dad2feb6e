from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tuner.cli import run

ROOT = Path(__file__).parents[2]


def test_limits_are_printed_for_the_newest_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Limits of the 23 attention backends of SGLang 0.5.22\n") and printed.err == ""


def test_another_version_has_its_own_limits_and_an_unknown_one_says_whose(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", "engine.version=0.5.17", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["rules"] == "0.5.16"
    assert printed.err == "attnpin: no rules of SGLang 0.5.17 are known; those of 0.5.16, the nearest, were applied\n"


def test_a_backend_of_ones_own_is_among_the_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "backend").mkdir()
    entry = "# @package backends.mine\nsource: my wiki\nlimits: [{rule: head_dim, allowed: [96]}]\n"
    (tmp_path / "backend" / "mine.yaml").write_text(entry)
    assert run(["limits", "--md", "backend=[mine]", "--config-dir", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "| mine |  |  |  | 96 |  |  |" in printed and "| mine | my wiki |" in printed


def test_differences_between_docs_and_code_are_printed_in_three_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", "--drift"]) == 0
    assert "cells in which documentation, docstrings and code differ" in capsys.readouterr().out.splitlines()[0]
    assert run(["limits", "--drift", "--md", "engine.version=0.5.16"]) == 0
    assert capsys.readouterr().out.startswith("# SGLang 0.5.16: ")
    assert run(["limits", "--drift", "--json"]) == 0
    names = [cell["name"] for cell in json.loads(capsys.readouterr().out)["drift"]]
    assert {"removed-cutlass_mla", "docs-mha-blackwell", "docstring-page-size"} <= set(names)


def test_an_unknown_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", "engine.versoin=0.5.16"]) == 2
    assert "engine.version" in capsys.readouterr().err


def test_limits_need_no_torch_and_look_at_no_machine() -> None:
    script = (
        "import sys; sys.modules.update({'torch': None, 'sqlalchemy': None})\n"
        "import backends.worker.board as board; board.here = None\n"
        "from tuner.cli import run\nsys.exit(run(['limits']))"
    )
    for option, said in (("", "flashinfer"), ("--drift", "docstrings and code differ")):
        words = ["limits", option] if option else ["limits"]
        command = [sys.executable, "-c", script.replace("['limits']", repr(words))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tuner.launching.interpreter import interpreter_of


def test_a_python_is_its_own_interpreter() -> None:
    assert interpreter_of([sys.executable, "-m", "sglang.launch_server"]) == sys.executable


@pytest.mark.parametrize(
    ("first", "found"),
    [(f"#!{sys.executable}", True), (f"#!{sys.executable} -P", True), ("#!/bin/sh", False), ("\x7fELF", False), ("#!", False)],
)
def test_a_script_names_its_python_in_its_first_line(tmp_path: Path, first: str, found: bool) -> None:
    script = tmp_path / "sglang"
    script.write_text(f"{first}\nprint()\n")
    script.chmod(0o755)
    assert interpreter_of([str(script), "serve"]) == (sys.executable if found else None)


def test_env_finds_its_python_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    script = tmp_path / "vllm"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreter_of(["vllm"]) == str(tmp_path / "python3")


def test_what_does_not_exist_has_none() -> None:
    assert interpreter_of(["/no/such/program"]) is None

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tuner import cli
from tuner.command_line import completion

ROOT = Path(__file__).parents[3]


def attnpin(*arguments: str, line: str = "") -> str:
    """What the command prints when a shell asks it to complete ``line``."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COMP_LINE": line}
    command = [sys.executable, "-P", "-m", "tuner", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("attnpin", list(cli.COMMANDS)),
        ("attnpin re", ["report"]),
        ("attnpin tune", ["tune"]),
        ("attnpin tune ", []),
        ("attnpin tune mo", []),
    ],
)
def test_the_first_word_is_completed_by_our_commands(line, offered):
    assert completion.commands_to_offer(line, cli.COMMANDS) == offered


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("attnpin tune model=q", "model=qwen3_8b"), ("attnpin plan engine.tensor", "engine.tensor_parallel="), ("attnpin tune ", "traffic=")],
)
def test_overrides_are_completed_by_hydra(line, wanted):
    assert wanted in attnpin("-sc", "query=bash", line=line).split()


def test_the_completion_script_is_for_attnpin():
    assert attnpin("tune", "-sc", "install=bash").rstrip().endswith("hydra_bash_completion attnpin")

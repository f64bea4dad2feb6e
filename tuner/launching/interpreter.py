"""The Python behind a server's command: what it runs on is what a pin is held against."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

PYTHON = re.compile(r"python(\d+(\.\d+)*)?")
MOST_BYTES = 512  # a line that names an interpreter is no longer


def interpreter_of(command: Sequence[str]) -> str | None:
    """A Python that is the command's first word, or that its script names in its first line; None where neither can be seen."""
    first = shutil.which(command[0])
    if first is None or PYTHON.fullmatch(Path(first).name):
        return first
    try:
        with open(first, "rb") as file:
            line = file.read(MOST_BYTES).partition(b"\n")[0]
    except OSError:
        return None
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    named = words[1] if len(words) > 1 and Path(words[0]).name == "env" else words[0] if words else ""
    return shutil.which(named) if PYTHON.fullmatch(Path(named).name) else None

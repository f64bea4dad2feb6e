"""The end of a log, for whoever is told that its server did not start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reports.page import one_line

Note = Callable[[str], None]  # says a line that stays
LINES = 15
MOST_BYTES = 1 << 16
LONGEST = 300  # characters of a line


def tail(log: Path) -> str:
    """The end of a log as it stands, long lines cut."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - MOST_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return "  (nothing)"
    lines = [line for line in text.splitlines() if line.strip()][-LINES:]
    return "\n".join(f"  {one_line(line[:LONGEST])}" for line in lines) or "  (nothing)"

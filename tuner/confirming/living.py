"""Which processes a program has left behind, by what /proc says; none where there is no /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ZOMBIE = "Z"


def living(group: int, variable: str) -> tuple[int, ...]:
    """Those of the process ``group``, and those that inherited the environment ``variable``."""
    return tuple(pid for pid in _pids() if _lives(pid, group, variable))


def _pids() -> Iterator[int]:
    if os.path.isdir("/proc"):
        yield from (int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def _lives(pid: int, group: int, variable: str) -> bool:
    try:
        state, _, its_group = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()[:3]
        if state == ZOMBIE:
            return False
        return int(its_group) == group or f"{variable}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended meanwhile, or is another user's
        return False

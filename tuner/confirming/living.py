"""Which processes a program has left behind, by what /proc says; none where there is no /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ZOMBIE, LISTENS = "Z", "0A"


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


def serves_at(port: int, group: int, variable: str) -> int | None:
    """The process among `living` that listens at ``port``."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    return next((pid for pid in living(group, variable) if sockets & _open(pid)), None)


def _listening(port: int) -> Iterator[str]:
    """Inodes of sockets."""
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and int(local.rpartition(":")[2], 16) == port:
                yield inode


def _open(pid: int) -> set[str]:
    try:
        return {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    except OSError:  # it has ended, or closed one meanwhile
        return set()

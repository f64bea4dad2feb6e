"""The processes below this one, read from /proc: is a compiler at work, and nothing may be left behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time

# comm is cut to 15 characters, so cross compilers ("x86_64-linux-gnu-g++") are known by their beginning.
COMPILERS = frozenset({"nvcc", "cicc", "cudafe++", "fatbinary", "nvlink", "ninja", "gcc", "g++", "cc", "c++", "cc1", "cc1plus", "collect2"})
LINKERS = frozenset({"as", "ld", "lld", "ld.lld", "ld.gold", "ld.bfd", "ld.mold"})
COMPILER_BEGINNINGS = ("ptxas", "clang", "x86_64-linux-gn", "aarch64-linux-g", "x86_64-conda-li")

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux); ends at once if it is gone already."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Make orphaned descendants this process's children, so that `kill_descendants` still finds them."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):  # no Linux: the pipes' ends still tell both sides
        return


def compiler_below(pid: int) -> str | None:
    """Name of a live compiler among the descendants of ``pid``."""
    return next((name for name in descendants(pid).values() if is_compiler(name)), None)


def is_compiler(name: str) -> bool:
    return name in COMPILERS or name in LINKERS or name.startswith(COMPILER_BEGINNINGS)


def descendants(pid: int) -> dict[int, str]:
    """Process ids below ``pid`` with their names, zombies left out."""
    table = _process_table()
    found: dict[int, str] = {}
    parents = {pid}
    while parents:
        parents = {child for child, (parent, _, _) in table.items() if parent in parents and child not in found}
        found.update({child: table[child][1] for child in parents})
    return {child: name for child, name in found.items() if table[child][2] != "Z"}


def signal_group(pid: int, number: int) -> None:
    """To ``pid`` and all of its process group, which it may not have made yet; one that has gone is left alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        os.killpg(pid, number)


def kill_descendants(patience_s: float = 2.0) -> None:
    """SIGKILL everything below this process until nothing is left, or ``patience_s`` have passed; leaves no zombies."""
    deadline = time.monotonic() + patience_s
    while (left := descendants(os.getpid())) and time.monotonic() < deadline:
        for child in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _process_table() -> dict[int, tuple[int, str, str]]:
    """pid -> (parent, name, state)."""
    try:
        entries = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return {}
    rows = {pid: _stat(pid) for pid in entries}
    return {pid: row for pid, row in rows.items() if row is not None}


def _stat(pid: int) -> tuple[int, str, str] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition(" (")[2].rpartition(") ")  # a name may hold spaces and brackets
    state, parent = rest.split()[:2]
    return int(parent), name, state

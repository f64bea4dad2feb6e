"""Which compiled kernels a process took from a cache, and whether they lay there before it began."""

from __future__ import annotations

import os
import pathlib
import sys
import time
from typing import Any

from backends.worker.caches import Places

BUILT, OURS, THEIRS = "built here", "attnpin's cache", "a cache that was there"
GRAVEST = (BUILT, OURS, THEIRS)
SUFFIXES = (".so", ".cubin")
COMPILED = "torch.compile"  # stands for its entries, from which it may load kernels that no Python code opens
HELPERS = ("__triton_launcher", "cuda_utils", "compile_tasks")  # compiled too, but no kernels
NAME_LENGTH = 64
CLOCK_S = 0.1  # a file's time may lag behind the clock by a tick of the kernel


class KernelFiles:
    """Listens from its construction on. Python's own reads and writes are heard as audit events, which stay on till the
    process ends; what compilers and C++ loaders do is seen in the process's memory map."""

    def __init__(self, places: Places) -> None:
        self._own = _real(places.own)
        self._theirs = tuple(map(_real, places.theirs))
        self._compiled = tuple(f"{folder}/" for folder in places.compiled)
        self._began = time.time() - CLOCK_S
        self._opened: set[str] = set()
        sys.addaudithook(self._hear)

    def seen(self) -> tuple[tuple[str, str], ...]:
        """(name, where it lay) of every kernel so far, sorted; of one name in several places the gravest word counts."""
        found: dict[str, str] = {}
        for path in self._opened | _mapped():
            name = os.path.basename(path).partition(".")[0][:NAME_LENGTH] if path.endswith(SUFFIXES) else COMPILED
            word = self._word(path)
            if word is not None and name not in HELPERS:
                found[name] = min(found.get(name, word), word, key=GRAVEST.index)
        return tuple(sorted(found.items()))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, os.PathLike)):
            path = str(arguments[0])
            if path.endswith(SUFFIXES) or (path.startswith(self._compiled) and not path.endswith(".lock")):
                self._opened.add(path)

    def _word(self, path: str) -> str | None:
        """None for a file of no cache, as those of installed packages are."""
        real = _real(path)
        ours = _is_below(real, self._own)
        if not ours and not any(_is_below(real, place) for place in self._theirs):
            return None
        if _made(real) >= self._began:
            return BUILT
        return OURS if ours else THEIRS


def _made(path: str) -> float:
    """When the file was written; a file that has gone again was a temporary name of one that is new."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return time.time()


def _mapped() -> set[str]:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            paths = {line.rstrip("\n").partition("/")[2] for line in file}
    except OSError:
        return set()
    return {f"/{path}" for path in paths if path.endswith(SUFFIXES)}


def _real(path: str | pathlib.Path) -> str:
    return os.path.realpath(path)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")

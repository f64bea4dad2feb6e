"""Locks in caches of kernels that were left by builds that were killed: whoever loads from there waits for ever."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from backends.condition import LeftLock
from backends.worker import caches

# The file whose being there is the lock. Source: torch/utils/cpp_extension.py and file_baton.py (2.13), by which early releases of
# FlashInfer build too. Its *.lock files of today (0.6.14) and tvm-ffi's (tvm_ffi/utils/lockfile.py 0.1.11) are always there: the
# kernel lets go of them when a process ends.
NAME = "lock"
DEEPEST = 5  # FlashInfer: version/architectures/cached_ops/module/lock


def found() -> tuple[LeftLock, ...]:
    """In the caches where such a file holds others up, as this process would use them; oldest first."""
    places = (library.place(os.environ) for library in caches.LIBRARIES if library.file_is_lock)
    return below((place for place in places if place is not None), time.time())


def below(places: Iterable[Path], now_s: float) -> tuple[LeftLock, ...]:
    locks = (LeftLock(str(file), now_s - made) for place in places for file in _files(place) if (made := _made(file)))
    return tuple(sorted(locks, key=lambda lock: -lock.age_s))


def _files(place: Path) -> Iterator[Path]:
    return (file for depth in range(1, DEEPEST) for file in place.glob("*/" * depth + NAME))


def _made(file: Path) -> float | None:
    """None when it has gone meanwhile, as it should."""
    try:
        return file.stat().st_mtime
    except OSError:
        return None

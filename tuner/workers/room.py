"""A worker's code unpacked where its controller is: workers that see the folder take it from there, those on another machine, in another
image or of another account unpack what they are sent. To unpack and to compile two hundred files is half of what a start costs."""

from __future__ import annotations

import atexit
import fcntl
import io
import os
import shutil
import tempfile
import time
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "attnpin-room-"
LOCK = "lock"  # a file in the folder, held by whoever made it and by its forks
NEW_S = 60.0  # so long a folder may be without its lock being held


@cache
def unpacked(code: bytes) -> str | None:
    """The folder of ``code``, for all workers of this process and of those that are forked from it; goes when it ends. None = no room."""
    try:
        _clear()
        folder = tempfile.mkdtemp(prefix=PREFIX)
        atexit.register(_remove, folder, os.getpid())
        fcntl.flock(os.open(os.path.join(folder, LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC), fcntl.LOCK_EX)
        zipfile.ZipFile(io.BytesIO(code)).extractall(folder)
    except OSError:
        return None
    return folder


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _clear() -> None:
    """Away with those whose makers were killed."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), lock.open("rb") as held:  # held, or of another account
            if time.time() - lock.stat().st_mtime > NEW_S:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)

"""Things in a folder that are no regular files: made for real where that is harmless, or a file that stat calls a device."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest


def make_socket(path: Path) -> None:
    """Through its folder's descriptor: an address holds no long path."""
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


MAKERS: dict[str, Callable[[Path], None]] = {"folder": Path.mkdir, "named pipe": os.mkfifo, "socket": make_socket}


def is_seen_as(path: Path, kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`os.stat` says of ``path`` that it is of ``kind`` (`stat.S_IFCHR`, ...)."""
    seen = os.stat

    def changed(asked: os.PathLike[str] | str | int, **options: bool) -> os.stat_result:
        found = seen(asked, **options)  # type: ignore[arg-type]
        return os.stat_result((kind | 0o666, *found[1:])) if os.fspath(asked) == str(path) else found  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", changed)

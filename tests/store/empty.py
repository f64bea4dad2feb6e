"""Databases without anything in them, copied: making their tables takes longer than most tests that need one."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from store.database.connect import Store, open_store


def database(path: Path) -> Store:
    path.write_bytes(_made())
    return open_store(f"sqlite:///{path}")


@cache
def _made() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        open_store(f"sqlite:///{folder}/empty.sqlite")
        return (Path(folder) / "empty.sqlite").read_bytes()

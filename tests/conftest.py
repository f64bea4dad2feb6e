from __future__ import annotations

import pathlib
import shutil

import pytest

from tuner.workers.bundle import BACKENDS, bundle


@pytest.fixture(scope="session")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The worker's code with `backends.trial` replaced: an arm named "segfaults" does (tests/backends/misbehaving.py)."""
    room = tmp_path_factory.mktemp("room") / BACKENDS.name
    shutil.copytree(BACKENDS, room, ignore=shutil.ignore_patterns("__pycache__"))
    (room / "trial.py").write_text("from misbehaving import run as run\n")
    return bundle([pathlib.Path(__file__).parent / "backends" / "misbehaving.py"], room)

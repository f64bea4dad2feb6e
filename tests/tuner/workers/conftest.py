from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Iterator

import pytest

from tuner.workers import streams
from tuner.workers.process import Worker


@pytest.fixture
def worker(misbehaving: bytes) -> Iterator[Worker]:
    with Worker([sys.executable], code=misbehaving) as started:
        yield started


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For processes that do not heed their closing line, which need killing."""
    monkeypatch.setattr(streams, "GRACE_S", 0.05)


@pytest.fixture
def script(tmp_path: pathlib.Path) -> Callable[[str], list[str]]:
    """A command that runs these lines of shell."""

    def write(text: str) -> list[str]:
        file = tmp_path / "engine"
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return [str(file)]

    return write


BLOCKED = "hydra, omegaconf, optuna, sqlalchemy, alembic, pynvml, numpy, scipy, rich, typer, tuner, reports, store, conf"


@pytest.fixture
def bare(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers started now can import nothing of the controller's: such an import fails as if it were not installed."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys('{BLOCKED}'.split(', ')))\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

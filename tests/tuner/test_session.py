from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.environment import Board
from tests.tuner.conftest import HERE, copied_backends
from tests.tuner.jobs import Site, assert_stored_as_measured
from tuner import session
from tuner.session import has_room
from tuner.workers.ahead import Ahead
from tuner.workers.bundle import bundle

CPU = Board("cpu", "a processor", None, None, None, None, None, None)


def test_imports_run_ahead_beside_a_gpu_with_processors_to_spare() -> None:
    gpu = replace(CPU, kind="cuda", name="a GPU")
    assert has_room(gpu, 16)
    assert not has_room(gpu, 2) and not has_room(CPU, 16)


def test_a_job_whose_processes_import_ahead_stores_the_same_with_no_more_processes(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, lock_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two probes and two rounds: the first process starts cold, the other three waited, and none was started in vain."""
    room = copied_backends(tmp_path_factory)
    (room / "trial.py").write_text("from scripted import run_trial as run\n")
    (room / "rounds.py").write_text("from scripted import run_round as run\n")
    (torch := tmp_path_factory.mktemp("stub") / "torch").mkdir()
    (torch / "__init__.py").write_text("")
    (torch / "version.py").write_text("__version__ = '0'\n")
    started, handed_over = count_workers(monkeypatch)
    site = Site(tmp_path, lock_key, bundle([HERE / "scripted.py", torch], room)).with_backends("works")
    monkeypatch.setattr(session, "has_room", lambda board, cpus: True)
    assert site.tune() == 0
    assert_stored_as_measured(site.run)
    assert (len(started), len(handed_over)) == (1 + 4, 3)  # one more keeps the lock


def count_workers(monkeypatch: pytest.MonkeyPatch) -> tuple[list[object], list[object]]:
    started: list[object] = []
    handed_over: list[object] = []

    class Counted(session.Worker):
        def __enter__(self) -> Counted:
            super().__enter__()
            started.append(self)
            return self

    class CountedAhead(Ahead):
        def take(self, arms):  # type: ignore[no-untyped-def]
            if (worker := super().take(arms)) is not None:
                handed_over.append(worker)
            return worker

    monkeypatch.setattr(session, "Worker", Counted)
    monkeypatch.setattr(session, "Ahead", CountedAhead)
    return started, handed_over

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.environment import Board
from tests.tuner.conftest import HERE, scripted_backends
from tests.tuner.jobs import Site, assert_stored_as_measured
from tuner import probe, session
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
    room = scripted_backends(tmp_path_factory)
    (torch := tmp_path_factory.mktemp("stub") / "torch").mkdir()
    (torch / "__init__.py").write_text("")
    (torch / "version.py").write_text("__version__ = '0'\n")
    started, handed_over = count_workers(monkeypatch)
    site = Site(tmp_path, lock_key, bundle([HERE / "scripted.py", torch], room)).with_backends("works")
    monkeypatch.setattr(session, "has_room", lambda board, cpus: True)
    assert site.tune("measure.import_ahead=true") == 0
    assert_stored_as_measured(site.run)
    assert (len(started), len(handed_over)) == (1 + 4, 3)  # one more keeps the lock


def test_without_being_asked_no_process_imports_beside_one_that_measures(
    tmp_path: Path, lock_key: str, scripted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, handed_over = count_workers(monkeypatch)
    monkeypatch.setattr(session, "has_room", lambda board, cpus: True)
    assert Site(tmp_path, lock_key, scripted).tune() == 0
    assert handed_over == []


def test_a_round_beside_which_a_context_was_opened_is_run_again_and_nothing_imports_ahead_any_more(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    lock_key: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    room = scripted_backends(tmp_path_factory)
    (room / "ahead.py").write_text("import_ahead = lambda arms: True\n")
    started, handed_over = count_workers(monkeypatch)
    site = Site(tmp_path, lock_key, bundle([HERE / "scripted.py"], room))
    monkeypatch.setattr(session, "has_room", lambda board, cpus: True)
    monkeypatch.setattr(probe, "_next_arms", lambda *arguments: ())
    assert site.tune("measure.import_ahead=true") == 0
    assert "the imports of the next process opened a context on the device meanwhile; it is run again" in capsys.readouterr().err
    assert ([measured.index for measured in site.run.rounds], handed_over) == ([0, 1], [])


def count_workers(monkeypatch: pytest.MonkeyPatch) -> tuple[list[object], list[object]]:
    started: list[object] = []
    handed_over: list[object] = []

    class Counted(session.Worker):
        def launch(self):  # type: ignore[no-untyped-def]
            if self not in started:
                started.append(self)
            return super().launch()

    class CountedAhead(Ahead):
        def take(self, arms):  # type: ignore[no-untyped-def]
            if (worker := super().take(arms)) is not None:
                handed_over.append(worker)
            return worker

    monkeypatch.setattr(session, "Worker", Counted)
    monkeypatch.setattr(session, "Ahead", CountedAhead)
    return started, handed_over

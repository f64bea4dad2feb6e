from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from backends.environment import Board
from tests.tuner.conftest import HERE, scripted_backends
from tests.tuner.jobs import Site, assert_stored_as_measured
from tuner import probe
from tuner.clock import PhaseClock
from tuner.device import host, session
from tuner.device.host import Host
from tuner.device.session import GIB, MOST_AHEAD, Session, room
from tuner.progress import Progress
from tuner.settings import compose
from tuner.workers.ahead import Ahead
from tuner.workers.bundle import bundle
from tuner.workers.failure import WorkerFailed

CPU = Board("cpu", "a processor", None, None, None, None, None, None)


def test_imports_run_ahead_beside_a_gpu_with_processors_to_spare() -> None:
    gpu = replace(CPU, kind="cuda", name="a GPU")
    assert [room(gpu, cpus, None) for cpus in (2, 4, 8, 64)] == [0, 1, 2, MOST_AHEAD]
    assert room(gpu, 64, 9 * GIB) == 2 and room(gpu, 64, GIB) == 0
    assert room(CPU, 16, None) == 0


def test_a_session_that_was_ended_from_another_thread_begins_no_process() -> None:
    ended = Session(Host(compose(["model=tiny"]).scenario.engine, b""), Progress(), PhaseClock())
    ended.kill()
    with pytest.raises(WorkerFailed, match="the session has ended"):
        ended.worker(())


def test_a_job_whose_processes_import_ahead_stores_the_same_with_no_more_processes(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, lock_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two probes and two rounds: the first process starts cold, the other three waited. One began in vain: before the last round another
    pair than the default led, so that its confirmation was foreseen."""
    room = scripted_backends(tmp_path_factory)
    (torch := tmp_path_factory.mktemp("stub") / "torch").mkdir()
    (torch / "__init__.py").write_text("")
    (torch / "version.py").write_text("__version__ = '0'\n")
    started, handed_over = count_workers(monkeypatch)
    site = Site(tmp_path, lock_key, bundle([HERE / "scripted.py", torch], room)).with_backends("works")
    monkeypatch.setattr(session, "room", lambda *seen: 1)
    assert site.tune("measure.import_ahead=true") == 0
    assert_stored_as_measured(site.run)
    assert (len(started), len(handed_over)) == (1 + 4 + 1, 3)  # the first one keeps the lock


def test_where_it_is_not_wanted_no_process_imports_beside_one_that_measures(
    tmp_path: Path, lock_key: str, scripted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, handed_over = count_workers(monkeypatch)
    monkeypatch.setattr(session, "room", lambda *seen: 1)
    assert Site(tmp_path, lock_key, scripted).tune("measure.import_ahead=false") == 0
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
    monkeypatch.setattr(session, "room", lambda *seen: 1)
    monkeypatch.setattr(probe, "_foreseen", lambda *arguments: ())
    assert site.tune("measure.import_ahead=true") == 0
    assert "the imports of the next process opened a context on the device meanwhile; it is run again" in capsys.readouterr().err
    assert ([measured.index for measured in site.run.rounds], handed_over) == ([0, 1], [])


def test_nobody_imports_for_either_side_while_one_of_them_times(monkeypatch: pytest.MonkeyPatch) -> None:
    hushed: list[tuple[object, bool]] = []
    monkeypatch.setattr(Ahead, "hush", lambda self, wanted: hushed.append((self, wanted)))
    engine = compose(()).scenario.engine
    old, new = (Session(Host(engine, b""), Progress(), PhaseClock(), ahead=True) for _ in range(2))
    old.share_quiet(new)
    new._fresh_worker()._make_quiet(SimpleNamespace(send=lambda line: None), True)  # type: ignore[arg-type]
    assert {ahead for ahead, _ in hushed} == {old._ahead, new._ahead} and all(wanted for _, wanted in hushed)


def count_workers(monkeypatch: pytest.MonkeyPatch) -> tuple[list[object], list[object]]:
    started: list[object] = []
    handed_over: list[object] = []

    class Counted(host.Worker):
        def launch(self):  # type: ignore[no-untyped-def]
            if self not in started:
                started.append(self)
            return super().launch()

    class CountedAhead(Ahead):
        def take(self, arms, others=False):  # type: ignore[no-untyped-def]
            if (worker := super().take(arms, others)) is not None:
                handed_over.append(worker)
            return worker

    monkeypatch.setattr(host, "Worker", Counted)
    monkeypatch.setattr(session, "Ahead", CountedAhead)
    return started, handed_over

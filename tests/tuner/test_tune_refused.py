"""Requests that cannot be met: one sentence, the right exit code, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from backends.environment import Environment
from store.database.connect import open_store
from store.past.history import list_runs
from tests.tuner.jobs import Site
from tuner.device.keeper import Facts, Keeper


@pytest.fixture
def site(tmp_path: Path, lock_key: str, scripted: bytes) -> Site:
    return Site(tmp_path, lock_key, scripted)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that root cannot write either; for other users a folder they may not."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield folder
        return
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], capture_output=True).returncode != 0:
        pytest.skip("root writes everywhere, and nothing can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that was said; nothing was printed."""
    captured = capsys.readouterr()
    [line] = captured.err.splitlines()
    assert captured.out == ""
    return line.removeprefix("attnpin: ")


def test_a_gpu_that_is_not_there(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.tune("gpu=h200") == 2
    assert told(capsys).startswith("The scenario asks for NVIDIA H200, but the worker's machine has ")
    assert list_runs(open_store(site.url)) == ()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("[/no/such/python]", "it does not start (No such file or directory)"),
        ("[sh, -c, exit 5]", "it ended with exit code 5"),
    ],
)
def test_an_engine_command_that_does_not_start(site: Site, command: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.tune(f"engine.command={command}") == 2
    line = told(capsys)
    assert line.startswith("engine.command=") and words in line and "give a command that ends in a Python" in line


def test_an_engine_command_without_torch(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.tune(f"engine.command=[{sys.executable}, -S]") == 2  # without its site-packages
    assert told(capsys).endswith(" -S has no torch; give the Python that serves the engine, or install torch there")


def test_a_read_only_place_for_the_pin_is_refused_before_anything_is_measured(
    site: Site, read_only_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pin = read_only_disk / "pins" / "pin.yaml"
    assert site.tune(f"pin.path={pin}") == 2
    assert told(capsys).startswith(f"pin.path={pin}: a new file in {read_only_disk} ")
    assert not (site.folder / "attnpin.db").exists()


@pytest.mark.parametrize("name", ["pin.yaml", "pin.md", "pin.evidence.jsonl.zst"])
def test_a_pipe_in_the_place_of_one_of_the_pins_files_stops_the_job_before_it_begins(
    site: Site, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.pin_path.parent.mkdir()
    os.mkfifo(site.pin_path.parent / name)
    assert site.tune() == 2
    assert told(capsys) == f"pin.path={site.pin_path} would write {site.pin_path.parent / name}, which is a named pipe; choose another path"
    assert not (site.folder / "attnpin.db").exists()


def test_a_pipe_in_the_place_of_the_database_stops_the_job_before_it_begins(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(site.folder / "attnpin.db")
    assert site.tune() == 2
    assert told(capsys) == f"store {site.folder}/attnpin.db is a named pipe; choose another path"


def test_a_read_only_place_for_the_database(site: Site, read_only_disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{read_only_disk}/attnpin.db"
    assert site.tune(f"store.url={url}") == 2
    assert told(capsys).startswith(f"store {url} cannot be ")


def test_a_database_of_a_newer_attnpin_is_left_alone(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    open_store(site.url)
    with sqlite3.connect(site.folder / "attnpin.db") as database:
        database.execute("UPDATE attnpin_version SET version_num = '9999'")
    database.close()
    assert site.tune() == 2
    line = told(capsys)
    assert line.startswith(f"store {site.url} has schema 9999 and this attnpin knows schemas up to ") and "install a newer attnpin" in line


def test_a_pin_of_a_newer_attnpin_is_not_overwritten(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.pin_path.parent.mkdir()
    site.pin_path.write_text("schema: 99\nunheard-of: true\n")
    assert site.tune() == 2
    assert told(capsys) == "pin pin.yaml has schema 99 and this attnpin reads schemas up to 1; install a newer attnpin"
    assert site.pin_path.read_text() == "schema: 99\nunheard-of: true\n"


def test_a_pin_that_cannot_be_read_any_more_is_written_anew(site: Site) -> None:
    site.pin_path.parent.mkdir()
    site.pin_path.write_text("<<<<<<< a pin in conflict\n")
    assert site.tune() == 0
    assert site.pin.run == site.run.id


def test_a_job_that_no_backend_can_be_measured_in_ends_before_it_begins(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.tune("engine.kv_cache_dtype=bfloat16") == 3
    line = told(capsys)
    assert line.startswith("no backend can be measured, nothing was started: attnpin cannot drive torch_native with bfloat16 KV cache ")
    assert line.endswith("set engine.kv_cache_dtype=auto, or measure it with another tool; attnpin plan lists every reason")
    assert list_runs(open_store(site.url)) == ()


@pytest.fixture
def nobody_asks_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(*_: object) -> None:
        raise AssertionError("the device's lock was asked for")

    monkeypatch.setattr(Keeper, "lock", lock)


@pytest.mark.usefixtures("nobody_asks_for_the_device")
@pytest.mark.parametrize(
    ("override", "code", "words"),
    [
        ("engine.kv_cache_dtype=bfloat16", 3, "no backend can be measured, nothing was started: "),
        ("engine.tensor_parallel=3", 2, "query heads do not divide over 3 attention ranks"),
        ("engine.speculative.algorithm=NO_SUCH", 2, "nothing was started: SGLang 0.5.22 would not start with these settings: "),
    ],
)
def test_a_job_that_cannot_be_does_not_wait_for_the_device(
    site: Site, override: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site.tune(override) == code
    assert words in told(capsys)
    assert list_runs(open_store(site.url)) == ()


def test_a_gpu_that_others_are_using(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    facts = Keeper.facts

    def busy(keeper: Keeper, imports: Iterable[str]) -> Facts:
        environment: Environment = facts(keeper, imports).environment
        return Facts(environment, {"memory_bytes": 40 << 30, "utilization_percent": 97})

    monkeypatch.setattr(Keeper, "facts", busy)
    assert site.tune() == 4
    assert "is used by others: 40.0 GiB are taken, at 97 % load; wait until it is free" in told(capsys)
    assert list_runs(open_store(site.url)) == ()

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from store.database import sqlite_file
from store.database.connect import file_of, open_store, reading, writing
from store.errors import DiskFull, Locked, NotADatabase, ReadOnly, StoreError, Unreachable
from store.runs.repository import add_round, begin_run, load_run
from tests.oddities import MAKERS, is_seen_as
from tests.store.building import a_round, a_run


def settings(url: str, *names: str) -> list[Any]:
    with reading(open_store(url)) as session:
        return [session.scalar(text(f"PRAGMA {name}")) for name in names]


@pytest.mark.usefixtures("to_disk")
def test_a_store_keeps_a_write_ahead_log_waits_for_others_and_checks_its_keys(tmp_path: Path) -> None:
    found = settings(f"sqlite:///{tmp_path}/a.sqlite", "journal_mode", "busy_timeout", "foreign_keys", "synchronous")
    assert found == ["wal", 30_000, 1, 2]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    assert open_store(f"sqlite:///{tmp_path}/a/b/c.sqlite").notes == ()
    assert (tmp_path / "a/b/c.sqlite").is_file()


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    open_store("sqlite:///~/attnpin/a.sqlite")
    assert (tmp_path / "attnpin/a.sqlite").is_file()


def test_where_shared_memory_is_not_to_be_had_another_journal_is_used_and_said(tmp_path: Path) -> None:
    url = f"sqlite:///file:{tmp_path}/a.sqlite?vfs=unix-dotfile&uri=true"  # SQLite's own file locking without shared memory
    store = open_store(url)
    assert store.notes == (
        f"store {tmp_path}/a.sqlite is kept without a write-ahead log (journal mode delete): its file or file system does not allow it",
    )
    run = begin_run(store, a_run(), fresh=False)
    add_round(store, run.id, a_round(run, 0))
    assert load_run(store, run.id).rounds == (a_round(run, 0),)


def test_a_network_file_system_gets_no_write_ahead_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    assert settings(url, "journal_mode") == ["wal"]
    monkeypatch.setattr(sqlite_file, "file_system_of", lambda _path: "nfs4")
    assert "nfs4 is a network file system" in open_store(url).notes[0]
    assert settings(url, "journal_mode") == ["delete"]


def test_the_file_system_is_that_of_the_longest_mount_point(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/vda / ext4 rw 0 0\nhost:/vol /home/a\\040b nfs4 rw 0 0\n")
    assert sqlite_file.file_system_of(Path("/home/a b/x/y.sqlite"), mounts) == "nfs4"
    assert sqlite_file.file_system_of(Path("/home/c/y.sqlite"), mounts) == "ext4"
    assert sqlite_file.file_system_of(Path("/x"), tmp_path / "none") is None
    assert sqlite_file.is_network("nfs4") and not sqlite_file.is_network("ext4") and not sqlite_file.is_network(None)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("pins.sqlite", "store.url='pins.sqlite' is not a database URL; write sqlite:///pins.sqlite"),
        (
            "postgresql://u:p@h:port/d",
            "store.url='postgresql://u:***@h:port/d' is not a database URL; write sqlite:///PATH or postgresql+psycopg://...",
        ),
        ("sqlite://", "store.url='sqlite://' names no file and would be lost; write sqlite:///PATH"),
        ("sqlite:///:memory:", "store.url='sqlite:///:memory:' names no file and would be lost; write sqlite:///PATH"),
        ("nosuch://x/y", "store nosuch://x/y: no database of the kind 'nosuch' is known; write sqlite:///PATH or postgresql+psycopg://..."),
        (
            "mysql://u:p@x",
            "store mysql://u:***@x: no database of the kind 'mysql' is known; write sqlite:///PATH or postgresql+psycopg://...",
        ),
    ],
)
def test_a_url_that_names_no_store_is_refused_in_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(Unreachable) as caught:
        open_store(url)
    assert (str(caught.value), caught.value.exit_code) == (sentence, 2)


def test_a_driver_that_is_not_installed_is_named_and_the_password_is_not() -> None:
    with pytest.raises(Unreachable, match=r"store postgresql\+asyncpg://a:\*\*\*@h/d needs the Python package 'asyncpg'"):
        open_store("postgresql+asyncpg://a:secret@h/d")


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database, " * 100)
    with pytest.raises(NotADatabase, match="is not a SQLite database; set store.url to another path") as caught:
        open_store(f"sqlite:///{path}")
    assert caught.value.exit_code == 2
    assert path.read_text() == "no database, " * 100


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_no_regular_file_is_no_database_and_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a.db"
    MAKERS[kind](place)
    was = place.lstat()
    with pytest.raises(Unreachable) as caught:
        open_store(f"sqlite:///{place}")
    assert (str(caught.value), caught.value.exit_code) == (f"store {place} is a {kind}; choose another path", 2)
    assert list(tmp_path.iterdir()) == [place] and os.path.samestat(place.lstat(), was)


def test_a_device_is_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "null").touch()
    is_seen_as(tmp_path / "null", stat.S_IFCHR, monkeypatch)
    with pytest.raises(Unreachable, match="store .*/null is a device; choose another path"):
        open_store(f"sqlite:///{tmp_path}/null")


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_a_pipe_where_sqlite_would_keep_its_journal_is_refused(tmp_path: Path, suffix: str) -> None:
    os.mkfifo(tmp_path / f"a.db{suffix}")
    with pytest.raises(Unreachable, match=f"store .*/a.db: a.db{suffix} beside it is a named pipe; choose another path"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_link_to_a_database_is_that_database(tmp_path: Path) -> None:
    run = begin_run(open_store(f"sqlite:///{tmp_path}/real.db"), a_run(), fresh=False)
    (tmp_path / "link.db").symlink_to("real.db")
    assert load_run(open_store(f"sqlite:///{tmp_path}/link.db"), run.id) == run


def test_the_file_of_a_url_is_known_without_opening_it(tmp_path: Path) -> None:
    assert file_of(f"sqlite:///{tmp_path}/a.db") == file_of(f"sqlite:///file:{tmp_path}/a.db?mode=ro&uri=true") == tmp_path / "a.db"
    assert file_of("postgresql+psycopg://u@h/d") is None


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(Unreachable, match=r"store folder .*/a/b cannot be written \(Not a directory\); choose another path"):
        open_store(f"sqlite:///{tmp_path}/a/b/c.sqlite")


def test_a_read_only_folder_is_refused_in_one_sentence(read_only_folder: Path) -> None:
    with pytest.raises(Unreachable, match="a.sqlite cannot be opened; check that the path is a file in a writable folder") as caught:
        open_store(f"sqlite:///{read_only_folder}/a.sqlite")
    assert caught.value.exit_code == 2
    with pytest.raises(ReadOnly, match="store folder .*/b cannot be written by this user; make its folder writable or choose another"):
        open_store(f"sqlite:///{read_only_folder}/b/a.sqlite")


def test_a_read_only_database_can_be_read_and_says_why_it_is_not_written(tmp_path: Path) -> None:
    run = begin_run(open_store(f"sqlite:///{tmp_path}/a.sqlite"), a_run(), fresh=False)
    store = open_store(f"sqlite:///file:{tmp_path}/a.sqlite?mode=ro&uri=true")
    assert load_run(store, run.id) == run
    with pytest.raises(ReadOnly, match="cannot be written; make it writable or set store.url to a path that is") as caught:
        add_round(store, run.id, a_round(run, 0))
    assert caught.value.exit_code == 2


def test_on_a_full_disk_a_round_is_stored_whole_or_not_and_the_store_stays_good(tiny_disk: Path) -> None:
    store = open_store(f"sqlite:///{tiny_disk}/a.sqlite")
    run = begin_run(store, a_run(), fresh=False)
    stored = 0
    with pytest.raises(StoreError) as caught:
        while True:
            add_round(store, run.id, a_round(run, stored, samples=200))
            stored += 1
    assert isinstance(caught.value, DiskFull) and caught.value.exit_code == 4
    assert "has no room left on its disk; free some and run the same command again, it continues where it was" in str(caught.value)
    assert 0 < stored == len(load_run(store, run.id).rounds)


def test_a_full_database_is_a_full_disk(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/a.sqlite")
    run = begin_run(store, a_run(), fresh=False)
    with pytest.raises(DiskFull), writing(store) as session:
        session.execute(text("PRAGMA max_page_count=1"))
        session.execute(text("INSERT INTO attnpin_wall_seconds (run_key, phase, seconds) SELECT 1, hex(randomblob(9000)), 1.0"))
    assert load_run(store, run.id) == run


def test_a_store_held_too_long_by_another_process_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "CONNECTION_SETTINGS", ("PRAGMA busy_timeout=50", "PRAGMA foreign_keys=ON"))
    store = open_store(f"sqlite:///{tmp_path}/a.sqlite")
    other = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Locked, match="is held by another process for too long") as caught:
        begin_run(store, a_run(), fresh=False)
    other.execute("ROLLBACK")
    other.close()
    assert caught.value.exit_code == 4
    assert begin_run(store, a_run(), fresh=False) == a_run()


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/a.sqlite")
    run = begin_run(store, a_run(), fresh=False)
    with writing(store) as session:
        session.execute(text("UPDATE attnpin_runs SET status = 'finished'"))
        assert load_run(store, run.id).status == "running"
    assert load_run(store, run.id).status == "finished"

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from store.errors import DiskFull, ReadOnly, Unreachable
from store.files import destination, write_together
from tests.oddities import MAKERS, is_seen_as


def test_all_files_are_written_and_replace_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    write_together([(tmp_path / "a", b"new"), (tmp_path / "deep/b", b"b")])
    assert ((tmp_path / "a").read_text(), (tmp_path / "deep/b").read_text()) == ("new", "b")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "deep"]


def test_files_are_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_together([(tmp_path / "a", b"")])
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_together([(tmp_path / "link", b"content")])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"content"


def test_a_full_disk_leaves_everything_as_it_was(tiny_disk: Path) -> None:
    write_together([(tiny_disk / "a", b"old a"), (tiny_disk / "b", b"old b")])
    with pytest.raises(DiskFull, match="/b has no room on its disk; free some and run the same command again") as caught:
        write_together([(tiny_disk / "a", b"new a"), (tiny_disk / "b", b"x" * 1_000_000)])
    assert caught.value.exit_code == 4
    assert {path.name: path.read_bytes() for path in tiny_disk.iterdir()} == {"a": b"old a", "b": b"old b"}


def test_a_read_only_folder_is_refused(read_only_folder: Path) -> None:
    with pytest.raises(ReadOnly, match="/a cannot be written by this user; make its folder writable or choose another path"):
        write_together([(read_only_folder / "a", b"")])
    assert list(read_only_folder.iterdir()) == []


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_no_regular_file_in_the_place_of_any_file_stops_all(tmp_path: Path, kind: str) -> None:
    MAKERS[kind](tmp_path / "b")
    was = (tmp_path / "b").lstat()
    with pytest.raises(Unreachable, match=f"/b is a {kind}; choose another path") as caught:
        write_together([(tmp_path / "a", b""), (tmp_path / "b", b"")])
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["b"] and os.path.samestat((tmp_path / "b").lstat(), was)


@pytest.mark.parametrize("mode", [stat.S_IFCHR, stat.S_IFBLK])
def test_a_device_is_never_replaced(tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "null").write_text("stays")
    is_seen_as(tmp_path / "null", mode, monkeypatch)
    with pytest.raises(Unreachable, match="/null is a device; choose another path"):
        write_together([(tmp_path / "null", b"")])
    assert (tmp_path / "null").read_text() == "stays"


def test_a_kind_of_file_nobody_has_heard_of_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "door").touch()
    is_seen_as(tmp_path / "door", 0o150000, monkeypatch)  # a Solaris door
    with pytest.raises(Unreachable, match="/door is no regular file; choose another path"):
        destination(tmp_path / "door")


def test_a_link_is_judged_by_what_it_leads_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(Unreachable, match="/link leads to .*/pipe, a named pipe; choose another path"):
        destination(tmp_path / "link")
    (tmp_path / "new").symlink_to("nowhere/yet")
    assert destination(tmp_path / "new") == tmp_path / "nowhere" / "yet"


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(Unreachable, match=r"/a cannot be written \(Too many levels of symbolic links\); choose another path"):
        destination(tmp_path / "a")


def test_what_a_killed_process_left_beside_a_target_is_cleared_away_and_not_written_through(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".a.{os.getpid()}.tmp")  # to open it would wait for a reader
    write_together([(tmp_path / "a", b"new")])
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]

from __future__ import annotations

from pathlib import Path

import pytest

from store.errors import DiskFull, ReadOnly, Unreachable
from store.files import write_together


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


def test_a_folder_in_the_place_of_any_file_stops_all(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(Unreachable, match="/b is a folder; name a file"):
        write_together([(tmp_path / "a", b""), (tmp_path / "b", b"")])
    assert [path.name for path in tmp_path.iterdir()] == ["b"]

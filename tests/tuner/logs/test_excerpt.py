"""What is read of a log of any length."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.errors import UsageError
from tuner.logs.excerpt import Excerpt
from tuner.logs.files import Raw, raw_lines

MARK = b"server_args="


def excerpt(path: Path, block_bytes: int = 64, newest: int = 2) -> tuple[list[Raw], int]:
    found = Excerpt(str(path), (MARK,), block_bytes, newest)
    return list(found.lines()), found.passed_bytes


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_log_that_fits_is_read_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "server.log", [f"line {number}" for number in range(20)])
    assert excerpt(path, newest=8) == (list(raw_lines(str(path))), 0)


def test_starts_their_neighbours_and_the_end_are_kept_with_their_line_numbers(tmp_path: Path) -> None:
    lines = [f"line {number:03}" for number in range(400)]
    lines[200] = "server_args=ServerArgs()"
    path = written(tmp_path / "server.log", lines)
    kept, passed = excerpt(path)
    assert [each.text for each in kept] == [lines[each.number - 1] for each in kept]
    numbers = {each.number for each in kept}
    assert {1, 196, 201, 206, 400} <= numbers and 100 not in numbers and 300 not in numbers
    assert passed == path.stat().st_size - sum(len(each.text) + 1 for each in kept)


@given(st.lists(st.text("ab\u00e9\r=", max_size=30), max_size=60), st.sampled_from([1, 7, 64]))
def test_what_is_kept_is_what_an_editor_shows_there(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int) -> None:
    path = tmp_path_factory.mktemp("log") / "server.log"
    path.write_bytes("\n".join(lines).encode())
    shown = {each.number: each.text for each in raw_lines(str(path))}
    kept, _ = excerpt(path, size)
    assert all(shown.get(each.number, "") == each.text for each in kept)


def test_a_line_longer_than_any_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a file that is no log; held whole it would be copied with each block that comes to it."""
    monkeypatch.setattr("tuner.logs.excerpt.LONGEST", 100)
    (tmp_path / "server.log").write_bytes(b"x" * 1000 + b"\nend\n")
    kept, passed = excerpt(tmp_path / "server.log")
    assert max(len(each.text) for each in kept) <= 100 + 64 and kept[-1] == Raw("server.log", 2, "end")
    assert passed + sum(len(each.text) for each in kept) + 2 == 1005


def test_rotated_and_packed_parts_pass_by_as_one_stream(tmp_path: Path) -> None:
    old = "".join(f"old {number}\n" for number in range(200))
    (tmp_path / "server.log.1.gz").write_bytes(gzip.compress(old.encode()))
    written(tmp_path / "server.log", ["new 1", "new 2"])
    kept, passed = excerpt(tmp_path / "server.log")
    assert [each.text for each in kept[-2:]] == ["new 1", "new 2"] and kept[0] == Raw("server.log.1.gz", 1, "old 0") and passed > 0


def test_a_part_that_is_still_being_packed_ends_early(tmp_path: Path) -> None:
    packed = gzip.compress("".join(f"line {number}\n" for number in range(5000)).encode())
    (tmp_path / "server.log.1.gz").write_bytes(packed[: len(packed) // 2])
    written(tmp_path / "server.log", ["end"])
    kept, _ = excerpt(tmp_path / "server.log", 1 << 12)
    assert kept[-1].text == "end"


def test_no_more_than_a_few_blocks_are_ever_held(tmp_path: Path) -> None:
    """Sixteen times the log does not take more memory."""

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.log"
        path.write_bytes(b"INFO: 127.0.0.1 - POST /v1/completions 200 OK\n" * count)
        tracemalloc.start()
        for _ in Excerpt(str(path), (MARK,), 1 << 14, 4).lines():
            pass
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    assert peak(160_000) < 1.5 * peak(10_000)


def test_a_log_that_is_not_there_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist: check the path"):
        excerpt(tmp_path / "server.log")

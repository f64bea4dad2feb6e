"""What is read of a log of any length."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.errors import UsageError
from tuner.logs.excerpt import Excerpt
from tuner.logs.files import Raw, raw_lines
from tuner.logs.telling import WRAPPED, telling

MARK = b"server_args="
WORDS = (b"Decode batch", b"server_args=")


def excerpt(path: Path, block_bytes: int = 64, newest: int = 2) -> tuple[list[Raw], int]:
    found = Excerpt(str(path), (MARK,), (), block_bytes, newest)
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


def test_the_lines_before_the_place_where_a_packed_file_is_cut_are_read(tmp_path: Path) -> None:
    lines = [f"{number} {number**5}" for number in range(5000)]
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "server.log").write_bytes(packed[: len(packed) // 2])
    kept, passed = excerpt(tmp_path / "server.log", 1 << 22)
    assert passed == 0 and len(kept) > 1000 and [each.text for each in kept[:-1]] == lines[: len(kept) - 1]


def test_utf_16_is_read_as_text(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        (tmp_path / "server.log").write_bytes("\ufeffline 1\r\nlin\u00e9 2\r\n".encode(encoding))
        assert excerpt(tmp_path / "server.log")[0] == [Raw("server.log", 1, "line 1"), Raw("server.log", 2, "lin\u00e9 2")]


@given(
    st.lists(st.sampled_from(["Decode batch, #running", "a", "", "x server_args= y Decode batch", "\r", "Prefill", "Decode"]), max_size=12),
    st.sampled_from(["", "\n", "\x1b[0m", "2026-11-30T08:00:00Z stdout P cut", '\n{"log":"Decode "}\n{"log":"batch"}']),
)
def test_no_line_with_a_word_is_missed(lines: list[str], beside: str) -> None:
    content = ("\n".join(lines) + beside).encode()
    every = list(telling(content, ()))
    found = list(telling(content, WORDS))
    assert set(found) <= set(every) and found == sorted(found)
    assert {line for line in every if any(word in line[1] for word in WORDS)} <= set(found)
    if not any(sign in content for sign in WRAPPED) and not content.startswith(b"{"):
        assert all(any(word in line for word in WORDS) for _, line in found)


def late_after(looks: int) -> Callable[[], bool]:
    left = iter(range(looks))
    return lambda: next(left, None) is None


def test_where_it_is_late_the_end_is_read_and_what_lies_between_is_counted(tmp_path: Path) -> None:
    lines = [f"line {number:03}" for number in range(400)]
    path = written(tmp_path / "server.log", lines)
    found = Excerpt(str(path), (MARK,), (), 64, 2, late_after(3))
    kept = list(found.lines())
    numbered, end = [each for each in kept if each.number], [each for each in kept if not each.number]
    assert [each.text for each in numbered] == lines[: len(numbered)] and [each.text for each in end] == lines[-len(end) :]
    assert found.unseen_bytes + found.passed_bytes + sum(len(each.text) + 1 for each in kept) == path.stat().st_size
    assert found.unseen_bytes > 0 and end[0].place == "server.log, a line of its end" and numbered[0].place == "server.log line 1"


def test_where_it_is_late_near_the_end_nothing_is_missed(tmp_path: Path) -> None:
    path = written(tmp_path / "server.log", [f"line {number:03}" for number in range(40)])
    found = Excerpt(str(path), (MARK,), (), 64, 8, late_after(0))
    assert list(found.lines()) == list(raw_lines(str(path))) and found.unseen_bytes == 0


def test_a_packed_file_has_no_end_without_all_that_comes_before(tmp_path: Path) -> None:
    path = tmp_path / "server.log.1.gz"
    path.write_bytes(gzip.compress("".join(f"{number} {number**7}\n" for number in range(30_000)).encode()))
    written(tmp_path / "server.log", ["new 1", "new 2"])
    found = Excerpt(str(tmp_path / "server.log"), (MARK,), (), 1 << 10, 2, late_after(3))
    kept = list(found.lines())
    assert 0 < found.unseen_bytes < path.stat().st_size
    assert [each.text for each in kept[-2:]] == ["new 1", "new 2"] and kept[0].text == "0 0"


def test_no_more_than_a_few_blocks_are_ever_held(tmp_path: Path) -> None:
    """Sixteen times the log does not take more memory."""

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.log"
        path.write_bytes(b"INFO: 127.0.0.1 - POST /v1/completions 200 OK\n" * count)
        tracemalloc.start()
        for _ in Excerpt(str(path), (MARK,), (), 1 << 14, 4).lines():
            pass
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    assert peak(160_000) < 1.5 * peak(10_000)


def test_a_log_that_is_not_there_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist: check the path"):
        excerpt(tmp_path / "server.log")

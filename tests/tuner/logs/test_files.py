from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuner.errors import UsageError
from tuner.logs.files import STDIN, distinct, raw_lines, rotated_parts


@pytest.mark.parametrize(
    "names",
    [
        ["server.log.10.gz", "server.log.2.gz", "server.log.1"],
        ["server.log-20261128.gz", "server.log-20261129.gz", "server.log-20261130"],
        ["server.log.20261130-080000.gz", "server.log.20261130-131500"],
        ["server.log.2026-11-29", "server.log.2026-11-30"],
    ],
)
def test_rotated_parts_are_read_oldest_first(tmp_path: Path, names: list[str]) -> None:
    for name in (*reversed(names), "server.log", "server.log.bak", "server.log2", "other.log.1"):
        (tmp_path / name).write_text("")
    assert [part.name for part in rotated_parts(tmp_path / "server.log")] == names


def test_what_is_read_with_another_log_is_no_server_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.log", "a.log.1", "a.log.2.gz", "b.log"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    assert distinct(("a.log", "a.log.1", "./a.log", "a.log.2.gz", "b.log", STDIN)) == ("./a.log", "b.log", STDIN)
    assert distinct(("a.log.1", "none.log")) == ("a.log.1", "none.log")


def test_a_log_that_may_not_be_read_is_the_users_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.log").write_text("")

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(UsageError, match=r"server.log cannot be read \(Permission denied\); make it readable"):
        list(raw_lines(str(tmp_path / "server.log")))


def test_lines_of_all_parts_carry_their_file_and_number(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "server.log.1.gz", "wb") as file:
        file.write(b"one\r\ntwo\n")
    (tmp_path / "server.log").write_bytes(b"thr\xffee\rstill three\nfour")
    found = [tuple(line) for line in raw_lines(str(tmp_path / "server.log"))]
    assert found == [
        ("server.log.1.gz", 1, "one"),
        ("server.log.1.gz", 2, "two"),
        ("server.log", 1, "thr\N{REPLACEMENT CHARACTER}ee\rstill three"),
        ("server.log", 2, "four"),
    ]


def test_gzip_is_known_by_its_content_and_may_end_early(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    whole = gzip.compress(b"".join(b"line %d\n" % number for number in range(5000)))
    path.write_bytes(whole[: len(whole) // 2])
    assert next(iter(raw_lines(str(path)))).text == "line 0"
    assert 0 < sum(1 for _ in raw_lines(str(path))) < 5000


@settings(max_examples=20)
@given(st.data())
def test_however_a_log_was_cut_and_packed_its_lines_are_those_of_the_whole(data: st.DataObject) -> None:
    written = [f"line {number}" for number in range(40)]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(written) - 1), max_size=11)))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(written)]), -len(cuts)):
            content = "".join(f"{line}\n" for line in written[begin:end]).encode()
            packed = number < 0 and data.draw(st.booleans())
            name = f"server.log{f'.{-number}' if number else ''}{'.gz' if packed else ''}"
            path.with_name(name).write_bytes(gzip.compress(content) if packed else content)
        assert [line.text for line in raw_lines(str(path))] == written


def test_a_pipe_is_read_too(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo\n",))
    writer.start()
    assert [line.text for line in raw_lines(str(pipe))] == ["one", "two"]
    writer.join()


@pytest.mark.parametrize(("name", "says"), [("none.log", "does not exist"), (".", "is a folder: name a file in it")])
def test_what_is_no_file_is_the_users_to_mend(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        list(raw_lines(str(tmp_path / name)))

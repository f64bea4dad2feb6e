from __future__ import annotations

import io
import json

import pytest

from tuner.errors import UsageError
from tuner.traffic.rows import FIRST, Bad, Row, rows


def read(content: bytes) -> list[Row]:
    return list(rows(io.BufferedReader(io.BytesIO(content)), "log"))  # type: ignore[type-var,arg-type]


def bad(content: bytes) -> list[tuple[int, str]]:
    return [(number, row.why) for number, row in read(content) if isinstance(row, Bad)]


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1}\n{"a": 2}\n',
        b'{"a": 1}\n\n{"a": 2}',
        b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n',
        b'[{"a": 1}, {"a": 2}]',
        b'[\n  {\n    "a": 1\n  },\n  {"a": 2}\n]\n',
    ],
    ids=["lines", "blank line", "byte order mark", "list", "pretty list"],
)
def test_json_lines_and_lists_are_read_row_by_row(content: bytes) -> None:
    assert [row for _, row in read(content)] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_is_read_by_its_header(delimiter: str) -> None:
    assert read(f"a{delimiter} b\n1{delimiter}2\n\n3{delimiter}4\n".encode()) == [(2, {"a": "1", "b": "2"}), (4, {"a": "3", "b": "4"})]


def test_one_pretty_printed_object_is_one_row() -> None:
    assert read(json.dumps({"input_lens": [1, 2]}, indent=2).encode()) == [(1, {"input_lens": [1, 2]})]


def test_an_item_larger_than_what_is_read_at_once_is_whole() -> None:
    items = [{"text": "x" * (3 * FIRST)}, {"text": "y"}]
    assert [row for _, row in read(json.dumps(items).encode())] == items


def test_a_character_that_lies_across_two_reads_is_one_character() -> None:
    items = [{"text": "é" * (FIRST // 2)}, {"text": "日" * FIRST}, {"text": "\u1f600" * 7}]
    assert [row for _, row in read(json.dumps(items, ensure_ascii=False).encode())] == items


def test_what_cannot_be_read_is_a_row_with_its_reason_and_the_next_is_read() -> None:
    lines = b'{"a": 1}\n{"a": \n[1]\n{"a": "\xff"}\n{"a": 2}\n'
    assert bad(lines) == [(2, "no JSON"), (3, "no JSON object"), (4, "not UTF-8")]
    assert bad(b"a,b\n1\n1,\xff\n1,2\n") == [(2, "cut short"), (3, "not UTF-8")]
    assert bad(b'[{"a": 1}, {"a": "\xfe"}, 5, {"a"') == [(2, "not UTF-8"), (3, "no JSON object"), (4, "cut short")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "traffic.path=log is empty"),
        (b"\n \n", "traffic.path=log is empty"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16; convert it to UTF-8"),
        (b"a\x00b", "is no text"),
        (bytes(range(1, 9)) + bytes(range(128, 200)) + b"\n", "is no text"),
        (b"12,34\n56,78\n", "is no header; write the names of its columns there"),
    ],
)
def test_a_file_that_is_no_rows_is_refused_with_what_to_do(content: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(content)

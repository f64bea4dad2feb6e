"""Files of exported items: whole, or refused before anything of them is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import zstandard

from store.errors import ExchangeError, NewerSchema
from store.exchange.file import read_items, write_items
from store.exchange.items import Item, Kind
from store.exchange.records import header_of

ITEMS = [Item(Kind.RUN, f"r{number}", {"page_size": 1, "n": 0.1 + number}, {"file": "x"} if number else None) for number in range(3)]
HEADER = header_of("0.1.0", "0011", "2026-03-01T00:00:00+00:00")


def written(folder: Path, name: str = "runs.jsonl") -> Path:
    write_items(folder / name, HEADER, ITEMS)
    return folder / name


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.zst", "runs.parquet"])
def test_items_come_back_as_they_were_and_can_be_read_again(name: str, tmp_path: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    contents = read_items(written(tmp_path, name))
    assert contents.header == HEADER
    assert [list(contents.items()) for _ in range(2)] == [ITEMS, ITEMS]


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.zst", "runs.parquet"])
def test_what_was_given_is_on_the_disk_before_the_last_item_is_asked_for(name: str, tmp_path: Path) -> None:
    """A database is larger than memory: no more than a few items are held."""
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    random = Random(7)
    sizes = list[int]()

    def items() -> Iterator[Item]:
        for number in range(100):
            sizes.append(sum(file.stat().st_size for file in tmp_path.iterdir()))
            yield Item(Kind.RUN, f"r{number}", {"x": random.randbytes(50_000).hex()})

    write_items(tmp_path / name, HEADER, items())
    assert sizes[-1] > 0.7 * (tmp_path / name).stat().st_size


def test_the_same_items_make_the_same_file(tmp_path: Path) -> None:
    assert written(tmp_path).read_bytes() == written(tmp_path, "again.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "is cut short"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "is cut short, changed"),
        (lambda lines: [line.replace('"page_size":1', '"page_size":2') for line in lines], "run r0 in .* was changed or damaged"),
        (lambda lines: [lines[0], *lines[2:]], "was changed or damaged"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "was changed or damaged"),
        (lambda lines: ["not one of ours\n"], "no file that attnpin db export wrote"),
        (lambda lines: [], "is empty or cut short"),
        (lambda lines: ["{}\n"], "holds no runs of attnpin's"),
        (
            lambda lines: [lines[0], '{"record":"run","id":"r","value":[],"origin":null}\n', *lines[1:]],
            "a record that is none of attnpin's",
        ),
        (lambda lines: [lines[0], '{"record":"run","id":"r","value":{"a":NaN},"origin":null}\n', *lines[1:]], "none of attnpin's"),
        (lambda lines: [lines[0], "[" * 9999 + "]" * 9999 + "\n", *lines[1:]], "no file that attnpin db export wrote"),
        (lambda lines: [lines[0], '{"record": "tune"}\n', *lines[1:]], "holds a record that is none of attnpin's"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(change: object, message: str, tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))  # type: ignore[operator]
    with pytest.raises(ExchangeError, match=message):
        read_items(file)


def test_a_compressed_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "runs.jsonl.zst")
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ExchangeError, match="cut short"):
        read_items(file)
    file.write_bytes(zstandard.compress(b"[]\n"))
    with pytest.raises(ExchangeError, match="no file that attnpin db export wrote"):
        read_items(file)


def test_a_parquet_file_that_was_damaged_anywhere_is_refused_or_says_the_same(tmp_path: Path) -> None:
    """Some of its bytes say nothing of ours, such as who wrote it."""
    pytest.importorskip("pyarrow")
    file = written(tmp_path, "runs.parquet")
    content, refused = file.read_bytes(), 0
    for place in range(0, len(content), 5):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x20]) + content[place + 1 :])
        try:
            assert list(read_items(file).items()) == ITEMS, place
        except ExchangeError as error:
            refused += "cut short, changed" in str(error)
    assert refused > len(content) / 10
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(ExchangeError, match="is cut short, changed, or no Parquet file; export it again"):
        read_items(file)


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.zst", "runs.parquet"])
def test_what_cannot_be_read_as_a_file_is_named(name: str, tmp_path: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    with pytest.raises(ExchangeError, match="cannot be read .*; name "):
        read_items(path)
    path.mkdir()
    with pytest.raises(ExchangeError, match="cannot be read .*; name "):
        read_items(path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(ExchangeError, match="is a pipe or a device, and is read more than once; write it to a file and name that"):
        read_items(path)


def test_a_file_of_a_newer_attnpin_is_refused_as_such(tmp_path: Path) -> None:
    write_items(tmp_path / "new.jsonl", {**HEADER, "schema": 99}, ITEMS)
    with pytest.raises(NewerSchema, match="has schema 99 and this attnpin reads schemas up to 1"):
        read_items(tmp_path / "new.jsonl")


def test_a_file_that_cannot_be_written_whole_leaves_what_was_there(tmp_path: Path) -> None:
    file = written(tmp_path)
    before = file.read_bytes()

    def broken() -> object:
        yield ITEMS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_items(file, HEADER, broken())  # type: ignore[arg-type]
    assert file.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["runs.jsonl"]

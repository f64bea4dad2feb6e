"""A file of gigabytes takes no more memory than a small one, but for the numbers of its requests."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tuner.traffic import blocks
from tuner.traffic.blocks import Blocks
from tuner.traffic.gather import gather
from tuner.traffic.rows import FIRST, rows
from tuner.traffic.trace import How, Trace

MIB = 1 << 20
WORDS = "x" * 16_000  # of each row: what users wrote
NUMBERS = 5 * 8  # bytes of a request
HELD = 8 * FIRST  # what reading may hold of a file: pieces of it as bytes and as text


@dataclass
class Made(io.RawIOBase):
    """A file that is made as it is read, so that there never is one."""

    parts: Iterator[bytes]
    left: bytes = b""
    size: int = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def, override]
        self.left = self.left or next(self.parts, b"")
        count = min(len(buffer), len(self.left))
        buffer[:count], self.left = self.left[:count], self.left[count:]
        self.size += count
        return count


def table(count: int) -> Iterator[bytes]:
    yield b"prompt_tokens,output_tokens,text\n"
    yield from (f"{number % 999 + 1},20,{WORDS}\n".encode() for number in range(count))


def lines(count: int) -> Iterator[bytes]:
    yield from (
        json.dumps({"prompt_tokens": number % 999 + 1, "output_tokens": 20, "text": WORDS}).encode() + b"\n" for number in range(count)
    )


def items(count: int) -> Iterator[bytes]:
    yield b"["
    for number, line in enumerate(lines(count)):
        yield (b"," if number else b"") + line
    yield b"]"


def conversations(count: int) -> Iterator[bytes]:
    turns = [{"from": "human", "value": WORDS}, {"from": "gpt", "value": "yes"}]
    yield from (json.dumps({"conversations": turns}).encode() + b"\n" for _ in range(count))


def read(parts: Iterator[bytes]) -> tuple[Trace, int, int]:
    """With the bytes of the file, and the most that was held at a time."""
    made = Made(parts)
    tracemalloc.start()
    try:
        found = gather(rows(io.BufferedReader(made), "log"), "log", How())
        return found, made.size, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", [table, lines, items, conversations])
def test_what_is_held_does_not_grow_with_the_file(form: Callable[[int], Iterator[bytes]]) -> None:
    trace, size, peak = read(form(2000))
    assert trace.rows == 2000 and size > 30 * MIB and trace.requests is not None
    assert peak < HELD + 4 * NUMBERS * len(trace.requests) < size / 3


def test_a_cache_of_a_trace_forgets_its_oldest_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 4)
    cache = Blocks(512)
    assert [cache.found([1, 2, 3], 1536), cache.found([1, 2, 4], 1536), cache.found([5, 6], 1024)] == [0, 1024, 0]
    assert len(cache.seen) == 4 and cache.found([1, 2], 1024) == 0

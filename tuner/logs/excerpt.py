"""What a first answer reads of a log of any length: where servers started, what came before and after, and the end.

The whole of it passes by, block by block; of what is left out only the line ends are counted, so that places stay true. Where it is `late`,
the rest of a file is not looked at but for its end, and what cannot be read from its end is left.
"""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from tuner.logs.files import ENDS_EARLY, LONGEST, Raw, parts
from tuner.logs.telling import telling

BLOCK_BYTES = 4 << 20
NEWEST = 4  # blocks: a scheduler's lines of hours, read in a second


class Block(NamedTuple):
    """Whole lines of ``file``, or a piece of one that is longer than any; the first of them is number ``first``, None = nobody knows."""

    file: str
    first: int | None
    content: bytes


def never() -> bool:
    return False


@dataclass
class Excerpt:
    """Of the log ``log``; ``marks`` are in the lines with which a server starts, and of others only those with one of ``words`` are worth
    reading (none: all). Of what was read so far ``passed_bytes`` were left out, and ``unseen_bytes`` on disk were not looked at: it was
    `late`."""

    log: str
    marks: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    block_bytes: int = BLOCK_BYTES
    newest: int = NEWEST
    late: Callable[[], bool] = never
    passed_bytes: int = 0
    unseen_bytes: int = 0

    def lines(self) -> Iterator[Raw]:
        """Raises `UsageError` where there is no such file."""
        every = (block for name, file in parts(self.log) for block in self._looked_at(name, file))
        for block in self._chosen(every):
            for number, line in telling(block.content, self.words):
                text = line.decode("utf-8", "replace").rstrip("\r")
                yield Raw(block.file, None if block.first is None else block.first + number, text)

    def _looked_at(self, name: str, file: BinaryIO) -> Iterator[Block]:
        seen = 0
        for block in blocks(name, file, self.block_bytes):
            yield block
            seen += len(block.content)
            if self.late():
                after = None if block.first is None else block.first + block.content.count(b"\n")
                yield from self._end_of(name, file, seen, after)
                return

    def _end_of(self, name: str, file: BinaryIO, seen: int, number: int | None) -> Iterator[Block]:
        """``number``: of the line behind the bytes that were ``seen``. What is packed has no end without all that comes before it."""
        on_disk = os.fstat(file.fileno()).st_size
        if not isinstance(file, io.BufferedReader) or not file.seekable():
            self.unseen_bytes += on_disk - os.lseek(file.fileno(), 0, os.SEEK_CUR)
            return
        end = max(seen, on_disk - self.newest * self.block_bytes)
        file.seek(end)
        if end > seen:
            end, number = end + len(file.readline(LONGEST)), None
        self.unseen_bytes += end - seen
        yield from blocks(name, file, self.block_bytes, number)

    def _chosen(self, every: Iterable[Block]) -> Iterator[Block]:
        """Those with a mark, their neighbours, and the newest."""
        held: deque[tuple[Block, bool]] = deque()
        before = True  # the oldest block has a start in it as a rule, and shows what there was before any other
        for block in every:
            held.append((block, any(mark in block.content for mark in self.marks)))
            if len(held) > self.newest:
                oldest, marked = held.popleft()
                if marked or before or held[0][1]:
                    yield oldest
                else:
                    self.passed_bytes += len(oldest.content)
                before = marked
        yield from (block for block, _ in held)


def blocks(name: str, file: BinaryIO, size: int, number: int | None = 1) -> Iterator[Block]:
    """``number``: of the first line."""
    rest = b""
    for piece in _pieces(file, size):
        content = rest + piece
        end = content.rfind(b"\n") + 1 or (len(content) if len(content) > LONGEST else 0)
        if end:
            yield Block(name, number, content[:end])
            number = None if number is None else number + content.count(b"\n", 0, end)
        rest = content[end:]
    if rest:
        yield Block(name, number, rest)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Also what comes before the place where a packed file is cut off."""
    some, more = list[bytes](), True
    while more:
        try:
            some.append(file.read1(size))  # type: ignore[attr-defined]  # all that are opened here have it
        except ENDS_EARLY:
            some.append(b"")
        more = bool(some[-1])
        if not more or sum(map(len, some)) >= size:
            yield b"".join(some)
            some = []

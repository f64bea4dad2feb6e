"""What a first answer reads of a log of any length: where servers started, what came before and after, and the end.

The whole of it passes by, block by block; of what is left out only the line ends are counted, so that places stay true.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from tuner.logs.files import ENDS_EARLY, LONGEST, Raw, parts

BLOCK_BYTES = 4 << 20
NEWEST = 4  # blocks: a scheduler's lines of hours, read in a second


class Block(NamedTuple):
    """Whole lines of ``file``, or a piece of one that is longer than any; the first of them is number ``first``."""

    file: str
    first: int
    content: bytes


@dataclass
class Excerpt:
    """Of the log ``log``; ``marks`` are in the lines with which a server starts. ``passed_bytes`` were left out of what was read so far."""

    log: str
    marks: tuple[bytes, ...]
    block_bytes: int = BLOCK_BYTES
    newest: int = NEWEST
    passed_bytes: int = 0

    def lines(self) -> Iterator[Raw]:
        """Raises `UsageError` where there is no such file."""
        every = (block for name, file in parts(self.log) for block in blocks(name, file, self.block_bytes))
        for block in self._chosen(every):
            texts = block.content.decode("utf-8", "replace").removesuffix("\n").split("\n")
            yield from (Raw(block.file, number, text.rstrip("\r")) for number, text in enumerate(texts, block.first))

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


def blocks(name: str, file: BinaryIO, size: int) -> Iterator[Block]:
    number, rest = 1, b""
    for piece in _pieces(file, size):
        content = rest + piece
        end = content.rfind(b"\n") + 1 or (len(content) if len(content) > LONGEST else 0)
        if end:
            yield Block(name, number, content[:end])
            number += content.count(b"\n", 0, end)
        rest = content[end:]
    if rest:
        yield Block(name, number, rest)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    try:
        while piece := file.read(size):
            yield piece
    except ENDS_EARLY:
        return

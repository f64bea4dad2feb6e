"""A file in another encoding, read as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_BYTES = 1 << 16


class Recoded(io.RawIOBase):
    """``file`` is in ``encoding``; what is none of it is replaced."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file, self._rest, self._ended = file, b"", False
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._rest and not self._ended:
            block = self._file.read(BLOCK_BYTES)
            self._ended = not block
            self._rest = self._decoder.decode(block, self._ended).encode()
        view = memoryview(buffer)
        some, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(some)] = some
        return len(some)

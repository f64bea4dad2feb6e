"""The dynamic symbols of a shared object, read from the file without loading it.

Source of structures and numbers: the System V ABI (generic and AMD64), and binutils for the GNU hash table.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_GNU_HASH = 1, 5, 6, 0x6FFFFEF5
WEAK = 2
SYMBOL_BYTES = 24
HEADER = b"\x7fELF\x02\x01"  # 64 bits, little endian: every platform that CUDA serves


class NotReadable(Exception):
    """No 64-bit little-endian ELF file with a GNU hash table (what every linker since 2006 writes)."""


class SharedObject:
    """Every reading may raise `NotReadable`: a file may be cut short."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            with file.open("rb") as stream:
                self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            if self._data[: len(HEADER)] != HEADER:
                raise NotReadable(f"{file} is no 64-bit ELF file")
            self._dynamic = list(self._entries())
            self._symbols, self._strings, self._hash = (self._table(tag) for tag in (DT_SYMTAB, DT_STRTAB, DT_GNU_HASH))
            self._buckets, self._first, self._bloom = self._unpack("3I", self._hash)
        except (OSError, ValueError, struct.error) as error:
            raise NotReadable(f"{file} cannot be read: {error}") from error

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Names of the libraries that are loaded with it."""
        return tuple(self._text(value) for tag, value in self._dynamic if tag == DT_NEEDED)

    def undefined(self) -> Iterator[str]:
        """Symbols that another library must have. They stand before those in the hash table; weak ones may stay away."""
        for index in range(1, self._first):
            name, info, _, section = self._unpack("IBBH", self._symbols + index * SYMBOL_BYTES)
            if section == 0 and info >> 4 != WEAK:
                yield self._text(name)

    def defines(self, symbol: str) -> bool:
        """Looked up as the dynamic loader does it: the bucket of the symbol's hash, then its chain of symbols."""
        wanted = gnu_hash(symbol)
        buckets = self._hash + 16 + 8 * self._bloom
        (index,) = self._unpack("I", buckets + 4 * (wanted % self._buckets))
        while index >= self._first:
            (found,) = self._unpack("I", buckets + 4 * (self._buckets + index - self._first))
            if found | 1 == wanted | 1 and self._name(index) == symbol:
                return True
            index = 0 if found & 1 else index + 1  # the lowest bit ends a chain
        return False

    def _name(self, index: int) -> str:
        return self._text(self._unpack("I", self._symbols + index * SYMBOL_BYTES)[0])

    def _segments(self) -> Iterator[tuple[int, int, int, int]]:
        """(type, offset in the file, address, bytes in the file)"""
        (table,), (size, count) = self._unpack("Q", 32), self._unpack("HH", 54)
        for start in range(table, table + size * count, size):
            kind, _, offset, address, _, length = self._unpack("IIQQQQ", start)
            yield kind, offset, address, length

    def _entries(self) -> Iterator[tuple[int, int]]:
        for kind, offset, _, length in self._segments():
            if kind == PT_DYNAMIC:
                table = struct.iter_unpack("<qQ", self._data[offset : offset + length])
                yield from ((tag, value) for tag, value in table)

    def _table(self, tag: int) -> int:
        """Where in the file the table lies that an entry gives by its address. Raises ValueError without one."""
        wanted = next((value for found, value in self._dynamic if found == tag), None)
        for kind, offset, address, length in self._segments():
            if wanted is not None and kind == PT_LOAD and address <= wanted < address + length:
                return wanted - address + offset
        raise ValueError(f"no dynamic table {tag:#x}")

    def _text(self, offset: int) -> str:
        start = self._strings + offset
        return self._data[start : self._data.find(b"\0", start)].decode(errors="replace")

    def _unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(f"<{layout}", self._data, offset)
        except struct.error as error:
            raise NotReadable(f"{self._file} ends early: {error}") from error


def gnu_hash(symbol: str) -> int:
    value = 5381
    for byte in symbol.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value

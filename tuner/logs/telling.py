"""The few lines of a block of a log that can tell anything, found without looking at each: most are those of requests. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# of colours and runtimes' envelopes: there a word may be broken, or a record go on in the next line, so every line counts
WRAPPED = (b"\x1b", b" stdout ", b" stderr ", b"\n{")


def telling(content: bytes, words: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """(its number from 0, the line) of those with one of ``words``; of all lines where there are none, or where `WRAPPED` ones are."""
    if not words or content.startswith(b"{") or any(sign in content for sign in WRAPPED):
        yield from enumerate(content.removesuffix(b"\n").split(b"\n"))
        return
    number = at = 0
    for found in sorted(place for word in words for place in _places(content, word)):
        if found < at:  # another word of the same line
            continue
        begin = content.rfind(b"\n", at, found) + 1 or at
        end = content.find(b"\n", found)
        number += content.count(b"\n", at, begin)
        yield number, content[begin : len(content) if end < 0 else end]
        if end < 0:
            return
        number, at = number + 1, end + 1


def _places(content: bytes, word: bytes) -> Iterator[int]:
    at = content.find(word)
    while at >= 0:
        yield at
        at = content.find(word, at + len(word))

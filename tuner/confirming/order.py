"""In which order the two servers are started."""

from __future__ import annotations

from random import Random


def order(starts: int, seed: int) -> tuple[tuple[int, bool], ...]:
    """(block, pinned) of each start: a block holds one of each side, and every block begins with the side that the one before ended with
    (ABBA), so that a drift falls on both. Which side is first is drawn."""
    first = Random(f"{seed}/confirm").random() < 0.5
    return tuple((block, pinned) for block in range(starts) for pinned in _block(first, block))


def _block(first: bool, block: int) -> tuple[bool, bool]:
    return (first, not first) if block % 2 == 0 else (not first, first)

"""The order in which arms are visited: random palindromes, so that no arm inherits another's heat, clocks or caches."""

from __future__ import annotations

import random
from collections.abc import Sequence


def palindromes(arms: Sequence[str], blocks: int, rng: random.Random) -> list[list[str]]:
    """``blocks`` visit orders, each a fresh random order of ``arms`` followed by its reverse (two visits an arm a block).

    Every arm's two visits lie symmetrically about the block's middle, so a linear drift of clocks or heat adds the same
    to all arms and leaves their differences alone. Deterministic in ``rng``.
    Raises ValueError for repeated arms (their visits could not be told apart) and for a negative count.
    """
    if len(set(arms)) != len(arms):
        raise ValueError(f"arms repeat in {list(arms)}; give each its own name")
    if blocks < 0:
        raise ValueError(f"blocks is {blocks}; give 0 or more")
    return [_palindrome(arms, rng) for _ in range(blocks)]


def _palindrome(arms: Sequence[str], rng: random.Random) -> list[str]:
    order = list(arms)
    rng.shuffle(order)
    return order + order[::-1]

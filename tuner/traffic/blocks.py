"""Prompts as ids of blocks: which of them a prefix cache has seen, and what all prompts begin with."""

from __future__ import annotations

from array import array
from itertools import islice
from typing import Any

import numpy as np

COMMON = 5  # percent of the prompts that may begin with less
MOST_BLOCKS = 1 << 20  # of the cache: half a billion tokens at 512 a block, more than any server has room for


class Blocks:
    """A cache that keeps the last million of blocks that were not there: what one of a server's size would have lost is not known here."""

    def __init__(self, tokens_per_block: int) -> None:
        self.tokens = tokens_per_block
        self.seen: dict[Any, None] = {}  # in the order they came in
        self.first: list[Any] = []
        self.alike = array("q")

    def found(self, ids: Any, prompt: int) -> int:
        """Tokens at the head of a prompt that were there before."""
        if not isinstance(ids, list) or not all(isinstance(each, (int, str)) for each in ids):
            return 0
        known = next((number for number, each in enumerate(ids) if each not in self.seen), len(ids))
        self.seen.update(dict.fromkeys(ids[known:]))
        for old in list(islice(self.seen, max(0, len(self.seen) - MOST_BLOCKS))):
            del self.seen[old]
        self.first = self.first or ids
        same = next((number for number, (one, other) in enumerate(zip(ids, self.first)) if one != other), min(len(ids), len(self.first)))
        self.alike.append(min(prompt, same * self.tokens))
        return min(prompt, known * self.tokens)

    def shared(self) -> int:
        """Tokens that nearly all prompts begin with."""
        return int(np.percentile(np.frombuffer(self.alike, dtype=np.int64), COMMON, method="lower")) if len(self.alike) > 1 else 0

"""Prompts as ids of blocks: which of them a prefix cache has seen, and what all prompts begin with."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

COMMON = 5  # percent of the prompts that may begin with less


class Blocks:
    """A cache that keeps everything: what one of its size would have lost is not known here."""

    def __init__(self, tokens_per_block: int) -> None:
        self.tokens = tokens_per_block
        self.seen: set[Any] = set()
        self.first: list[Any] = []
        self.alike = array("q")

    def found(self, ids: Any, prompt: int) -> int:
        """Tokens at the head of a prompt that were there before."""
        if not isinstance(ids, list) or not all(isinstance(each, (int, str)) for each in ids):
            return 0
        known = next((number for number, each in enumerate(ids) if each not in self.seen), len(ids))
        self.seen.update(ids[known:])
        self.first = self.first or ids
        same = next((number for number, (one, other) in enumerate(zip(ids, self.first)) if one != other), min(len(ids), len(self.first)))
        self.alike.append(min(prompt, same * self.tokens))
        return min(prompt, known * self.tokens)

    def shared(self) -> int:
        """Tokens that nearly all prompts begin with."""
        return int(np.percentile(np.frombuffer(self.alike, dtype=np.int64), COMMON, method="lower")) if len(self.alike) > 1 else 0

"""Speculative decoding as a server runs it: a draft proposes a few tokens a request, one step of the model judges them all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

# For each token the one that it follows, -1 the context. The first is the one that the step before made sure.
Tree = tuple[int, ...]

NO_DRAFT: Tree = ()


@dataclass(frozen=True)
class Drafting:
    """What the engine resolved: ``tokens`` that a verify step judges in each request, the sure one among them, drafted in ``steps`` with
    at most ``topk`` tokens after each. ``topk`` 1 drafts a chain."""

    algorithm: str
    topk: int
    steps: int
    tokens: int

    @property
    def tree(self) -> Tree:
        """The likeliest path whole, its tokens' rivals beside it, those near the context first: what a draft that is mostly right keeps."""
        if self.topk <= 1:
            return chain(self.tokens)
        path = chain(1 + min(self.steps, self.tokens - 1))
        rivals = tuple(node for _ in range(self.topk - 1) for node in range(len(path) - 1))
        return (*path, *rivals, *range(len(path), self.tokens))[: self.tokens]


def chain(tokens: int) -> Tree:
    return tuple(range(-1, tokens - 1))


def require_tree(tree: Tree) -> None:
    """Raise ValueError unless each token follows an earlier one and the first the context."""
    if tree and (tree[0] != -1 or any(not 0 <= parent < token for token, parent in enumerate(tree[1:], 1))):
        raise ValueError(f"draft {tree}: each token follows one before it, the first the context (-1)")


@cache
def sees(tree: Tree) -> tuple[tuple[bool, ...], ...]:
    """Which drafted tokens each of them attends to: itself and those it follows."""
    rows: list[tuple[bool, ...]] = []
    for token, parent in enumerate(tree):
        before = rows[parent] if parent >= 0 else (False,) * len(tree)
        rows.append(tuple(seen or other == token for other, seen in enumerate(before)))
    return tuple(rows)


def depths(tree: Tree) -> tuple[int, ...]:
    """How many drafted tokens each follows: its position after the context."""
    return tuple(sum(row) - 1 for row in sees(tree))

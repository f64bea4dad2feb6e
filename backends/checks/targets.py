"""Which keys of its context a query is aimed at."""

from __future__ import annotations

from backends.drafting import Tree, sees

BLOCKS = (64, 128)  # kernels cut a context into whole blocks of keys


def targets(position: int, prefix: int, context: int, page_size: int, window: int | None) -> list[tuple[str, int]]:
    """Keys worth aiming at from a query at ``position``, as (kind, key): the ends and the seams a kernel may get wrong.

    "hidden" keys must not show: the one just outside the window and the one after the query.
    """
    oldest = 0 if window is None else max(0, position - window + 1)
    last_page = (position + 1) // page_size * page_size
    splits = [(position + 1) * part // 8 // block * block for part, block in zip(range(1, 8), BLOCKS * 4)]
    found = [("oldest", oldest), ("newest", position)]
    found += [("page edge", key) for edge in (page_size, last_page) for key in (edge - 1, edge)]
    found += [("split edge", key) for edge in (*splits, prefix) for key in (edge - 1, edge)]
    seen = [(kind, key) for kind, key in found if oldest <= key <= position]
    hidden = [("hidden", key) for key in (oldest - 1, position + 1) if 0 <= key < context]
    return seen[:2] + hidden + list(dict.fromkeys(seen[2:]))


def in_draft(found: list[tuple[str, int]], draft: Tree, position: int, prefix: int) -> list[tuple[str, int]]:
    """The targets of a drafted token: of drafted keys those it follows, and as hidden ones its rivals and what comes after."""
    seen = sees(draft)[position - prefix]
    drafted = [("draft" if seen[token] else "hidden", prefix + token) for token in range(len(draft)) if prefix + token != position]
    return [(kind, key) for kind, key in found if key < prefix or key == position] + drafted

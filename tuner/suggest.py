"""From a name that does not exist to those it may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

LISTED = 12  # more names than this are not read, only scrolled past, where something else shows them better


def nearest(word: str, names: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """At most ``limit`` names, best first: the same last part of a dotted key, the same beginning, then small spelling distance; where the
    case alone differs, no others."""
    known = sorted(set(names) - {word})
    if same_but_case := tuple(name for name in known if name.lower() == word.lower()):
        return same_but_case[:limit]
    last = word.rpartition(".")[2]
    same_tail = [name for name in known if last and name.rpartition(".")[2] == last]
    begins = [name for name in known if word and name.startswith(word)]
    return tuple(dict.fromkeys([*same_tail, *begins, *_alike(word, known, limit)]))[:limit]


def _alike(word: str, names: list[str], limit: int) -> list[str]:
    """Names spelt nearly like ``word``, without those that are clearly further away than the best."""
    close = get_close_matches(word, names, n=limit)
    nearness = {name: SequenceMatcher(None, name, word).ratio() for name in close}
    return [name for name in close if nearness[name] > nearness[close[0]] - 0.1]


def instead(word: str, names: Iterable[str], listing: str = "") -> str:
    """The clause that ends an error: the nearest names, or all of them; ``listing`` stands for those where they are many."""
    known = sorted(set(names))
    if near := nearest(word, known):
        return f"did you mean {' or '.join(near)}?"
    return listing if listing and not 0 < len(known) <= LISTED else f"choose one of {', '.join(known)}"

"""What differs between two mappings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from store.verdicts.verdict import Change


def changes(before: Mapping[str, str | None], after: Mapping[str, str | None], touches: tuple[str, ...] = ()) -> Iterator[Change]:
    """In the order of ``before``, what came anew last."""
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name), touches)

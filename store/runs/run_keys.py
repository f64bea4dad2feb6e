"""Where the rows of one run hang."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class UnknownName(LookupError):
    """A result names an arm or cell that its run does not have: a fault of the caller, not of the user."""


@dataclass(frozen=True)
class RunKeys:
    """Keys of a run's arms and cells by name."""

    run: int
    arms: Mapping[str, int]
    cells: Mapping[str, int]

    def arm(self, name: str) -> int:
        return _key_of("arm", name, self.arms)

    def cell(self, name: str) -> int:
        return _key_of("cell", name, self.cells)


def _key_of(kind: str, name: str, keys: Mapping[str, int]) -> int:
    if name not in keys:
        raise UnknownName(f"the run has no {kind} {name!r}; it has {', '.join(map(repr, keys))}")
    return keys[name]

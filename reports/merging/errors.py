"""Why a file is left as it is. Each text is a clause for the user that follows the file's name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class MergeError(ValueError):
    """The file is written in a way that cannot be edited, or it is not plain where."""


@dataclass(frozen=True)
class Conflict:
    """A key that the user set to something else; ``inherited`` through a YAML merge key, so that it stands elsewhere."""

    key: str
    theirs: str
    ours: str
    inherited: bool = False

    def __str__(self) -> str:
        return f"{self.key} is {self.theirs or 'empty'} there{' (inherited)' if self.inherited else ''} and {self.ours} in the pin"


class Conflicts(MergeError):
    """Keys of the user's own that the pin wants otherwise."""

    def __init__(self, conflicts: Iterable[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        named = "; ".join(map(str, self.conflicts))
        super().__init__(f"has keys that attnpin did not write: {named}; --replace takes the pin's, and nothing was written")

"""What a launcher's YAML holds of a pin, key by key: what is merged into a file that is there already."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Form(str, Enum):
    """How flags stand in a YAML file: as keys of a mapping, as words of a list, or as keys in a text that is YAML itself."""

    KEYS = "keys"
    WORDS = "words"
    TEXT = "text"


@dataclass(frozen=True)
class Place:
    """Where they stand: keys (and indexes) from a document's root, "*" = any."""

    form: Form
    at: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One key of ours; ``path`` leads to it from its place ("attention-config", "backend"). ``because`` is safe on a comment line."""

    path: tuple[str, ...]
    value: str | int | bool
    because: str | None

    @property
    def text(self) -> str:
        """The value as YAML's own words have it."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)

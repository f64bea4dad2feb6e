"""What limits allow: values, spans and multiples, and whether these take a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from backends.answers import Value

Release = tuple[int, ...]


@lru_cache(maxsize=4096)
def release(text: str) -> Release:
    """The leading numbers of a version, comparable: "0.6.16rc2" -> (0, 6, 16). Empty where there is none."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, match.group().split("."))) if match else ()


@dataclass(frozen=True)
class Span:
    """Both ends included, None = open. Numbers and versions alike, part by part: "8..256", "12.3..", "2.."."""

    low: str | None
    high: str | None

    def __contains__(self, value: Value) -> bool:
        number = release(str(value))
        above = self.low is None or number >= release(self.low)
        return bool(number) and above and (self.high is None or number <= release(self.high))

    def __str__(self) -> str:
        if self.high is None:
            return f"{self.low} or more"
        return f"{self.high} or less" if self.low is None else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class Multiple:
    """Every whole multiple of ``base``: "16n"."""

    base: int

    def __contains__(self, value: Value) -> bool:
        return isinstance(value, int) and value % self.base == 0

    def __str__(self) -> str:
        return f"multiples of {self.base}"


Allowed = int | str | Span | Multiple


class Taken(dict[Value, bool]):
    """Whether some values and spans take a value; each is looked at once."""

    def __init__(self, allowed: tuple[Allowed, ...]) -> None:
        self._allowed = allowed

    def __missing__(self, value: Value) -> bool:
        taken = self[value] = any(value in item if isinstance(item, (Span, Multiple)) else value == item for item in self._allowed)
        return taken

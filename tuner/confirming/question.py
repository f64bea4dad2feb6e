"""What is asked of two servers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from backends.wire import to_plain
from store.digest import canonical
from store.serving.serving_run import Sent
from tuner.confirming.sides import Sides
from tuner.engines.benchmarks import Bench


@dataclass(frozen=True)
class Question:
    """``starts`` of each side."""

    engine: str
    sides: Sides
    bench: Bench
    sent: Sent
    starts: int

    @property
    def digest(self) -> str:
        """Of all that makes one start comparable with another; how many there are to be does not count."""
        plain = to_plain(self)
        del plain["starts"]
        return hashlib.sha256(canonical(plain).encode()).hexdigest()

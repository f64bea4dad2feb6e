"""Points whose truth is known."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

from store.past.course import Point
from store.runs.run import PROTOCOL_VERSION
from tests.store.building import arm, environment

PROCESSES = 6
ARM = arm("flashinfer")


def point(run: str, version: str, us: float, day: int, comparison: str | None = None, **changes: object) -> Point:
    """Of processes that scatter by 0.2 %."""
    rng = random.Random(run)
    processes = tuple((index, math.log(us) + rng.gauss(0, 0.002)) for index in range(PROCESSES))
    created = f"2026-01-{day:02}T03:04:05Z"
    made = Point(
        *(run, comparison, created, "qwen3_8b", "chat", "sglang", "0.5.16", PROTOCOL_VERSION, "gate"),
        *(environment(version), ARM, "cell", processes, False),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def points(times: Sequence[float], alike: bool = False) -> list[Point]:
    """One a day, of another version each unless ``alike``."""
    return [point(f"r{day}", "0.6.0" if alike else f"0.6.{day}", us, day) for day, us in enumerate(times, 1)]

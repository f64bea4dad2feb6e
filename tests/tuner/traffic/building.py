"""Requests, a pace and rules that are easy to reckon with."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tuner.traffic.gather import gather
from tuner.traffic.pace import KindPace, Pace
from tuner.traffic.requests import Requests
from tuner.traffic.rows import rows
from tuner.traffic.simulated import Rules
from tuner.traffic.trace import How, Trace

PACE = Pace(np.full(20_000, 0.010), 0.0, (KindPace(None, 1e-8, 1e-8, 1e-12),))  # 10 ms a step, whatever is in it, and a little for keys


def requests(
    *lengths: tuple[int, int], arrival_s: Iterable[float] | None = None, cached: Iterable[int] | None = None, shared: int = 0
) -> Requests:
    """``lengths``: (prompt, output)."""
    prompt, output = (np.array(column, dtype=np.int64) for column in zip(*lengths))
    found = np.zeros(len(prompt), dtype=np.int64) if cached is None else np.array(list(cached), dtype=np.int64)
    return Requests(None if arrival_s is None else np.array(list(arrival_s), dtype=np.float64), prompt, output, found, shared)


def rules(running: int = 64, chunk: int = 8192, pool: int | None = None, page_size: int = 1, **others: Any) -> Rules:
    return Rules(running, chunk, pool, page_size, **others)


def traced(content: bytes, how: How | None = None, name: str = "log") -> Trace:
    """As if ``content`` lay in a file."""
    return gather(rows(io.BufferedReader(io.BytesIO(content)), name), name, how or How())  # type: ignore[type-var,arg-type]


def json_lines(*each: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in each)

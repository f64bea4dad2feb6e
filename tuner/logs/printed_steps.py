"""Steps as a scheduler printed them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class PrintedSteps:
    """``decode``: (line's time, requests, tokens in their contexts, accepted length), ``prefill``: (line's time, requests, new tokens,
    cached tokens). A line on decoding stands for ``steps_a_line``. ``running``, ``chunk``, ``pool``: what bounds the server, None = it
    did not say. ``unread``: lines that begin like these and say less."""

    steps_a_line: int
    decode: list[tuple[str | None, int, int, float]] = field(default_factory=list)
    prefill: list[tuple[str | None, int, int, int]] = field(default_factory=list)
    running: int | None = None
    chunk: int | None = None
    pool: int | None = None
    mixed: bool = False
    unread: int = 0

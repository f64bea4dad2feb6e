"""What the stand-ins know of their own command line."""

from __future__ import annotations

import sys

TIMES_MS = {"fa3": 10.0, "flashinfer": 10.02, "triton": 12.0}


def option(name: str, default: str) -> str:
    """The last one counts, as in argparse."""
    words = sys.argv[1:]
    given = [value for word, value in zip(words, words[1:]) if word == f"--{name}"]
    return given[-1] if given else default


def flag(name: str) -> bool:
    return f"--{name}" in sys.argv


def backend() -> str:
    """Of decode."""
    return option("decode-attention-backend", option("attention-backend", "fa3"))


def wobble(key: str) -> float:
    """Of a start: within 0.1 %, the same for the same key."""
    return 1 + (sum(map(ord, key)) % 21 - 10) / 10_000

"""Numbers as engines print them, for patterns: a log may hold what looks like one and is none."""

from __future__ import annotations

COUNT = r"\d{1,18}"
DECIMAL = r"\d{1,18}(?:\.\d{1,18})?"

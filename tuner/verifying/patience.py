"""How long a server is waited for that still starts."""

from __future__ import annotations

WITHIN_S = 900.0  # weights, compilers and captures of a large model

"""Why a backend may not run: asked, allowed, what to do about it, and where the rule comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One limit that a request breaks.

    ``asked`` and ``allowed`` name values ("head dim 512", "64, 128 or 256"), ``remedy`` is an imperative clause,
    ``source`` a file and function of the engine or library, or the measurement that showed it.
    """

    rule: str
    asked: str
    allowed: str
    remedy: str
    source: str

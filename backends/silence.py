"""How long a process may be without a word, by what it is at. Then it is ended: a kernel that hangs costs so long, and its arm."""

from __future__ import annotations

from dataclasses import dataclass

# Phases as a worker names them, and the setting of `patience` that each falls under; any other is an answer that is waited for.
WORK = {
    "import": "importing",
    "open": "importing",
    "build": "building",
    "capture": "capturing",
    "check": "checking",
    "identify": "checking",
    "warmup": "timing",
    "timing": "timing",
    "metadata": "timing",
    "anchors": "timing",
    "building an overlay": "installing",
}
ANSWERING = "answering"


@dataclass(frozen=True)
class SilenceLimits:
    """Settings of `patience`, as conf/config.yaml has them with the reason for each. ``compiling_s`` counts in place of any other while a
    compiler lives; ``starting_s`` until a worker's hello, which the controller waits for."""

    starting_s: float = 300.0
    answering_s: float = 120.0
    importing_s: float = 300.0
    building_s: float = 120.0
    compiling_s: float = 900.0
    capturing_s: float = 60.0
    checking_s: float = 120.0
    timing_s: float = 60.0
    installing_s: float = 600.0

    def of(self, phase: str | None) -> tuple[str, float]:
        """The setting that ``phase`` falls under, None = no phase has begun, and its seconds."""
        work = WORK.get(phase or "", ANSWERING)
        limit_s: float = getattr(self, f"{work}_s")
        return work, limit_s


USUAL = SilenceLimits()

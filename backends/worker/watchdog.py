"""When a silent worker has been silent too long."""

from __future__ import annotations

from typing import Any

from backends.silence import SilenceLimits
from backends.worker.turn_taking import TURN

WAITS = (TURN, "ready")  # for its turn on the device; for what to screen next


class Watchdog:
    """Pure bookkeeping over the events a worker sends; the guard supplies the time.

    Between requests there is no limit. During one, no more than `SilenceLimits.of` its phase may pass without an event; while a compiler
    lives that clock stands still, but at most ``compiling_s`` may pass since the last event. A worker that waits for the controller's word
    has no limit.
    """

    def __init__(self) -> None:
        self._limits: SilenceLimits | None = None
        self._event_at = 0.0
        self._active_at = 0.0
        self._compiler: str | None = None
        self.phase: str | None = None
        self._subject = ""
        self._waiting = False

    def saw(self, event: dict[str, Any], now: float) -> None:
        """An event of the worker: "limits" opens a request, "done" and "error" close it, any one proves progress."""
        kind = event.get("event")
        self._event_at = self._active_at = now
        self._compiler = None
        self._waiting = kind in WAITS
        if kind == "limits":
            self._limits, self.phase, self._subject = SilenceLimits(**event["limits"]), None, ""
        elif kind in ("done", "error"):
            self._limits = None
        elif kind == "progress":
            self.phase = event["phase"]
            self._subject = "".join(f", {event[key]}" for key in ("arm", "cell") if event.get(key))

    def compiling(self, compiler: str, now: float) -> None:
        self._active_at, self._compiler = now, compiler

    @property
    def answering(self) -> bool:
        return self._limits is not None

    def quiet_s(self, now: float) -> float:
        """Seconds without event or compiler; 0 between requests."""
        return now - self._active_at if self.answering and not self._waiting else 0.0

    def overdue(self, now: float) -> str | None:
        """The sentence that says which limit was passed, and the setting to raise; None while all are kept."""
        if self._limits is None or self._waiting:
            return None
        where = f" (phase {self.phase or 'start'}{self._subject})"
        compiling_s = self._limits.compiling_s
        if self._compiler and now - self._event_at > compiling_s:
            return f"{self._compiler} was still building after {compiling_s:g} s{where}; raise patience.compiling if it needs longer"
        work, limit_s = self._limits.of(self.phase)
        if now - self._active_at > limit_s:
            return f"no word for {limit_s:g} s{where}; raise patience.{work} if it needs longer"
        return None

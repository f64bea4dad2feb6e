"""Asks the controller for quiet while this process times: another one that imports beside it makes host times up to twice as long."""

from __future__ import annotations

from backends.worker.line import Line

TIMED = ("open", "build", "capture", "timing", "metadata")  # the phases whose seconds are results


class Quiet:
    """Its `say` is a `backends.phases.Say`. Quiet is there when `say` returns, and over when another phase is said."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._has_it = False

    def say(self, phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> None:
        wanted = phase in TIMED
        if wanted is not self._has_it:
            self._has_it = wanted
            self._line.send("quiet", wanted=wanted)
            if wanted:
                self._line.wait()
        self._line.say(phase, arm, cell, detail)

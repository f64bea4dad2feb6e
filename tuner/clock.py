"""Where the wall time of a run goes, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Callable


class PhaseClock:
    """Adds the seconds between two changes of phase to the phase that was left. Not reentrant, one a run."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._phase: str | None = None
        self._since = now()
        self._seconds: dict[str, float] = {}

    def enter(self, phase: str | None) -> None:
        """Leave the present phase (if any) for ``phase``; None stops the clock."""
        now = self._now()
        if self._phase is not None:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def take(self) -> tuple[tuple[str, float], ...]:
        """Seconds by phase since the last take, in the order the phases first occurred, the running one included."""
        self.enter(self._phase)
        taken, self._seconds = tuple(self._seconds.items()), {}
        return taken

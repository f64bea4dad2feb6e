"""Looking again until a server has started, for so long and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from store.serving.verified import Standing, Verified
from tuner.errors import UsageError
from tuner.progress import Progress
from tuner.verifying.patience import WITHIN_S

PAUSE_S = 1.0


@dataclass(frozen=True)
class Clock:
    """The one that runs, or a test's."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


RUNNING = Clock()


def follow(look: Callable[[], Verified], within_s: float = WITHIN_S, clock: Clock = RUNNING) -> Verified:
    """``look`` until every server that it sees is ready; after ``within_s`` seconds what there is by then. Raises what ``look`` raises
    for a log or a server that is still not there at the end."""
    end = clock.now() + within_s
    with Progress() as progress:
        while True:
            last = clock.now() >= end
            try:
                seen = look()
            except UsageError as error:
                if last:
                    raise
                progress.phase("waiting for the server to start", str(error))
            else:
                if all(each.start.ready for each in seen.servers):
                    return seen
                if last:
                    return replace(seen, notes=(*seen.notes, f"its start was not complete after {within_s:.0f} s"))
                progress.phase("waiting for the server to start", _so_far(seen))
            clock.pause(PAUSE_S)


def _so_far(seen: Verified) -> str:
    return "" if seen.standing is Standing.UNKNOWN else f"so far {seen.standing.value}: {seen.sentence}"

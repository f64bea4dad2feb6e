"""What is timed while the device is not at its usual pace is timed again, after a rest. Source: the measuring protocol, section 2.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from backends.timing.disturbance import Disturbed

if TYPE_CHECKING:
    from backends.bench import Bench
    from backends.timing.lookout import Lookout

VOID_RETRIES, COOL_S = 3, 10.0

Found = TypeVar("Found")


def undisturbed(timed: Callable[[], tuple[str | None, Found]], bench: Bench, lookout: Lookout, voided: list[str]) -> Found:
    """What ``timed`` brings home beside None, or beside why that is void: then it is called again. ``voided`` is told each why.

    Raises `Disturbed` when it is void every time.
    """
    for _ in range(1 + VOID_RETRIES):
        void, found = timed()
        if void is None:
            return found
        voided.append(void)
        bench.rest(COOL_S)
        lookout.look()
    raise Disturbed(f"measurement invalid: {voided[-1]}, again after {VOID_RETRIES} rests of {COOL_S:.0f} s")

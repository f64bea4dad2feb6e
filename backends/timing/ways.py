"""Does a recorded call's time hang on how it is timed? What `Soundness` means for its time and for what may be said. Pure.

Source of the three checks and of their bounds: the measuring protocol, sections 2.2 to 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from backends.measured import Soundness

AGREE = 0.01
OVERLAP, OVERLAP_US = 0.03, 1.0  # a call's share, or time a call: whichever comes first
NOISE = 0.005
WARM, NOT_VERIFIABLE, OVERHEAD, OVERLAPS = "warm-risk", "rotation not verifiable", "graph overhead", "overlap-sensitive"


def agree(ratio: float) -> bool:
    return abs(ratio - 1) < AGREE


def overlaps(found: Soundness, device_us: float) -> bool:
    """Whether one call begins inside the one before it by more than can be left out. A microsecond of a long call is noise."""
    gained = abs((found.spaced or 1.0) - 1)
    return gained > OVERLAP or (gained * device_us > OVERLAP_US and gained > NOISE)


def headline_us(found: Soundness | None, device_us: float) -> float:
    """The time of a call to go by: the usual one, where nothing speaks against it."""
    if found is None:
        return device_us
    if found.spaced is not None and overlaps(found, device_us):
        return found.spaced * device_us
    return device_us if found.slope is None or agree(found.slope) else found.slope * device_us


def labels(found: Soundness | None, device_us: float) -> tuple[str, ...]:
    """Cautions of a trial whose usual time was ``device_us``."""
    return () if found is None else tuple(_labels(found, device_us))


def _labels(found: Soundness, device_us: float) -> Iterator[str]:
    if found.rotation is None:
        yield NOT_VERIFIABLE
    elif not agree(found.rotation):
        yield f"{WARM}: over twice as many pools a call takes {found.rotation:.3f} of the time"
    if found.slope is not None and not agree(found.slope):
        yield f"{OVERHEAD}: a launch more takes {found.slope:.3f} of the mean one"
    if found.spaced is not None and overlaps(found, device_us):
        yield f"{OVERLAPS}: with another kernel between, a call takes {found.spaced:.3f} of the time"

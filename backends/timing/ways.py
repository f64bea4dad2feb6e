"""Does a recorded call's time hang on how it is timed? What `Soundness` means for its time and for what may be said. Pure.

Source of the first three checks and of their bounds: the measuring protocol, sections 2.2 to 2.4; of the fourth: a prefill wrapper whose
graph launched another grid (flashinfer issue 411).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.measured import KernelNode, Soundness

AGREE = 0.01
OVERLAP, OVERLAP_US = 0.03, 1.0  # a call's share, or time a call: whichever comes first
NOISE = 0.005
PENALISED = 1.1  # times as long as without a graph
WARM, NOT_VERIFIABLE, OVERHEAD, OVERLAPS = "warm-risk", "rotation not verifiable", "graph overhead", "overlap-sensitive"
PENALTY = "graph penalty"
TIMED_AGAIN = "timed again"  # since the device was not at its usual pace


def agree(ratio: float) -> bool:
    return abs(ratio - 1) < AGREE


def overlaps(found: Soundness, device_us: float) -> bool:
    """Whether one call begins inside the one before it by more than can be left out. A microsecond of a long call is noise."""
    gained = abs((found.spaced or 1.0) - 1)
    return gained > OVERLAP or (gained * device_us > OVERLAP_US and gained > NOISE)


def penalised(found: Soundness | None) -> bool:
    """Whether a graph costs more than it saves: the call takes longer in one than launched without."""
    return found is not None and found.eager is not None and found.eager * PENALISED <= 1


def grids(recorded: Sequence[KernelNode], eager: Sequence[KernelNode]) -> str:
    """Of one call's kernels in launch order, both ways."""
    return f"{PENALTY}: grids {_grids(recorded)} in the graph, {_grids(eager)} launched eagerly"


def _grids(nodes: Sequence[KernelNode]) -> str:
    return ", ".join("x".join(map(str, node.grid)) for node in nodes) or "unknown"


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
    if found.eager is not None and penalised(found):
        yield f"{PENALTY}: in a graph a call takes {1 / found.eager:.3f} of the time of one launched eagerly"

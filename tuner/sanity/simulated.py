"""Settings of a simulated GPU that make no sense: noise below zero, a factor of nothing, figures that a time needs and nobody gave."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from tuner.sanity.bounds import NOT_NEGATIVE, POSITIVE, Bound
from tuner.sanity.tree import Tree

WHOLE_SHARE: Bound = ("at least 0 and at most 1", lambda value: 0 <= value <= 1)
ANY: Bound = ("a number", lambda value: True)

NOISE = {"drift_pct_per_minute": ANY, "transient_pct": ANY, "transient_s": POSITIVE, "spike_share": WHOLE_SHARE}  # the rest: 0 or more
FAULT = {"process": NOT_NEGATIVE, "after_s": NOT_NEGATIVE, "for_s": POSITIVE, "seconds": NOT_NEGATIVE}
NEEDED = ("memory_bytes", "l2_bytes", "bandwidth_bytes_per_s", "peak_flops")


def impossible_simulation(gpu: Tree) -> Iterator[str]:
    """Complaints about the node gpu, in words; none of a real GPU's."""
    if gpu["simulated"] is None:
        return
    for name in NEEDED:
        if gpu[name] is None:
            yield f"gpu.{name} is missing, and no time on {gpu['name']} can be made up without it; give it, or choose gpu=simulated"
    for key, value, (allowed, holds) in _values(gpu["simulated"]):
        if value is not None and not (isfinite(value) and holds(value)):
            yield f"gpu.simulated.{key}={value} is not possible; it must be {allowed}"


def _values(node: Tree) -> Iterator[tuple[str, float | None, Bound]]:
    for name, value in node["noise"].items():
        yield f"noise.{name}", value, NOISE.get(name, NOT_NEGATIVE)
    for backend, factors in node["factor"].items():
        yield from ((f"factor.{backend}.{phase}", value, POSITIVE) for phase, value in factors.items())
    for place, release in enumerate(node["releases"]):
        yield f"releases[{place}].factor", release["factor"], POSITIVE
    for place, knob in enumerate(node["knobs"]):
        yield f"knobs[{place}].factor", knob["factor"], POSITIVE
    for place, fault in enumerate(node["faults"]):
        yield from ((f"faults[{place}].{name}", fault[name], bound) for name, bound in FAULT.items())

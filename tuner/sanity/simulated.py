"""Settings of a simulated GPU that make no sense: noise below zero, a factor of nothing, figures that a time needs and nobody gave, names
of nothing that there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite

from tuner.composing import names
from tuner.sanity.bounds import NOT_NEGATIVE, POSITIVE, Bound
from tuner.sanity.tree import Tree
from tuner.suggest import instead

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


def unknown_to_simulation(gpu: Tree, chosen: Iterable[str]) -> Iterator[str]:
    """Complaints about backends and packages that are neither among those ``chosen`` nor any of ours: what is said of them would befall
    nothing. What a recording has installed is not known here."""
    if (node := gpu["simulated"]) is None:
        return
    backends = {*chosen, *(option.rpartition("/")[2] for option in names.groups()["backend"])}
    for key, name in _named(node):
        if name is not None and name not in backends:
            yield f"gpu.simulated.{key} names {name!r}, which is no known backend; {instead(name, backends)}"
    for place, release in enumerate(node["releases"] if node["recording"] is None else ()):
        if release["module"] not in node["versions"]:
            module = f"gpu.simulated.releases[{place}].module names {release['module']!r}"
            yield f"{module}, which gpu.simulated.versions has not; {instead(release['module'], node['versions'])}"


def _named(node: Tree) -> Iterator[tuple[str, str | None]]:
    yield from ((f"factor.{backend}", backend) for backend in node["factor"])
    for kind in ("releases", "knobs", "faults"):
        yield from ((f"{kind}[{place}].backend", each["backend"]) for place, each in enumerate(node[kind]))
    for board, further in enumerate(node["boards"]):
        for kind in ("paces", "faults"):
            yield from ((f"boards[{board}].{kind}[{place}].backend", each["backend"]) for place, each in enumerate(further[kind]))

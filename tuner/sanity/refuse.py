"""Every complaint about a configuration, in the order in which they are made; the first one is the error."""

from __future__ import annotations

from collections.abc import Iterator

from tuner.errors import UsageError
from tuner.limiting.knobs import unknown_knobs
from tuner.sanity.backends import against_requirement, foreign_backends, unknown_names
from tuner.sanity.bounds import GPU_FIGURES, out_of_bounds, out_of_order
from tuner.sanity.engine import (
    foreign_dtype,
    impossible_drafts,
    impossible_graphs,
    misspelt_algorithm,
    of_another_engine,
    unknown_engine,
)
from tuner.sanity.geometry import impossible_geometry
from tuner.sanity.simulated import impossible_simulation, unknown_to_simulation
from tuner.sanity.tree import Tree

IDLE_OBJECTIVES = {("decode", "ttft"), ("prefill", "tpot")}  # (engine.role, decide.objective)


def refuse_nonsense(tree: Tree) -> None:
    """Raises `UsageError` with the first complaint about a resolved configuration tree."""
    for complaint in complaints(tree):
        raise UsageError(complaint)


def refuse_foreign_backends(tree: Tree) -> None:
    """Raises `UsageError` for an engine without rules, and for backends that are another engine's."""
    for complaint in (*unknown_engine(tree["engine"]["name"]), *foreign_backends(tree)):
        raise UsageError(complaint)


def complaints(tree: Tree) -> Iterator[str]:
    yield from out_of_bounds(tree)
    yield from out_of_order(tree)
    yield from impossible_geometry(tree["model"], tree["engine"])
    yield from idle_objective(tree)
    yield from uncached_prefix(tree["traffic"])
    yield from figures_beside_auto(tree["gpu"])
    yield from impossible_simulation(tree["gpu"])
    yield from against_requirement(tree)
    yield from impossible_graphs(tree["engine"])
    yield from impossible_drafts(tree["engine"])
    yield from unknown_engine(tree["engine"]["name"])
    yield from of_another_engine(tree["engine"])
    yield from foreign_dtype(tree["engine"])
    yield from misspelt_algorithm(tree["engine"])
    yield from foreign_backends(tree)
    yield from unknown_names(tree)
    yield from unknown_knobs(tree)
    yield from unknown_to_simulation(tree["gpu"], tree["backends"])


def uncached_prefix(traffic: Tree) -> Iterator[str]:
    """Every request but the first finds what all of them share."""
    shared, cached = traffic["shared_prefix_tokens"], traffic["cached_share"]
    if shared and not cached and traffic["path"] is None:
        yield f"traffic.shared_prefix_tokens={shared} are found in the cache, where traffic.cached_share={cached} says nothing is; raise it"


def idle_objective(tree: Tree) -> Iterator[str]:
    """An objective that adds up a phase the server does not run."""
    role, objective = tree["engine"]["role"], tree["decide"]["objective"]
    if (role, objective) in IDLE_OBJECTIVES:
        yield f"decide.objective={objective} counts nothing on a server with engine.role={role}; choose throughput"


def figures_beside_auto(gpu: Tree) -> Iterator[str]:
    """The machine's figures would stand, and nothing would be heard of the user's."""
    for name in (*GPU_FIGURES, "arch", "cuda"):
        if gpu["kind"] == "auto" and gpu[name] is not None:
            yield f"gpu.{name}={gpu[name]} has no say beside gpu=auto, which reads the machine; name a GPU (gpu=h200) or leave it out"

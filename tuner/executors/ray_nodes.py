"""What the nodes of a Ray cluster offer, and what a task asks of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.database.connect import file_of
from tuner.errors import UsageError
from tuner.executors.place import Place

GPU = "GPU"
TYPE = "accelerator_type:"  # of resources; Ray gives a node that of its GPUs
LOOK_EVERY_S = 0.5


def nodes_of(ray: Any, patience_s: float) -> list[dict[str, Any]]:
    """Those that are there once one has a GPU, at the latest after ``patience_s``."""
    deadline = time.monotonic() + patience_s
    while True:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        if any(GPU in node["Resources"] for node in nodes) or time.monotonic() > deadline:
            return nodes
        time.sleep(LOOK_EVERY_S)


def gpus_of_a_task(place: Place, nodes: Sequence[Mapping[str, Any]]) -> float:
    """All of the largest node while a host is to be exclusive, so that no two tasks share one. Raises `UsageError` without any."""
    most = max((float(node["Resources"].get(GPU, 0)) for node in nodes), default=0.0)
    if most < 1:
        raise UsageError("the Ray cluster has no GPU; start its nodes with --num-gpus, or leave executor=ray out")
    return most if place.exclusive_host else 1.0


def offered_by(nodes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of what ``nodes`` have, types of GPU among it."""
    return tuple(dict.fromkeys(name for node in nodes for name in node["Resources"]))


def types_of(nodes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The types of GPU that ``nodes`` have ("accelerator_type:H200")."""
    return tuple(name for name in offered_by(nodes) if name.startswith(TYPE))


def resources_of(overrides: Iterable[str], offered: Iterable[str]) -> tuple[str, ...]:
    """Of ``offered`` the type of the profile which is asked for ("accelerator_type:H100" for gpu=h100_sxm); none where there is no such."""
    profile = next((override.partition("=")[2] for override in overrides if override.startswith("gpu=")), "")
    words = {name: name.removeprefix(TYPE).lower().replace("-", "_") for name in offered if name.startswith(TYPE)}
    return tuple(name for name, word in words.items() if f"{profile}_".startswith(f"{word}_"))


def refuse_unshared(store_url: str, nodes: Sequence[Mapping[str, Any]], here: str) -> None:
    """``here``: the name of this host, which need not be one of theirs."""
    hosts = sorted({here, *(node["NodeManagerHostname"] for node in nodes)})
    if len(hosts) > 1 and file_of(store_url) is not None:
        found = f"each of the {len(hosts)} hosts ({', '.join(hosts)})"
        raise UsageError(f"store.url={store_url} is a file, of which {found} would have its own; give a PostgreSQL")

"""Boards of a Ray cluster beside the one that a run has: each reserved while it is lent, a round on it a task.

A reservation (placement group) and not a task alone, since a task that waits for a GPU cannot be told from one that works, and two runs
that each waited for the other's GPU would wait for good.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from backends.simulated.world import World
from tuner.errors import AttnpinError
from tuner.executors.place import DEVICES, Place
from tuner.executors.ray_cluster import LEAST, RayCluster
from tuner.executors.ray_nodes import GPU, types_of
from tuner.rounds.board import Terms, other_board
from tuner.rounds.lent import Answer, Gone, Lent, Order

RESERVING_S, LOOK_S = 30.0, 1.0


@dataclass(frozen=True)
class Ray:
    """``groups`` are the reservations, one a place; ``worlds`` stand in for their boards, none where these are real."""

    cluster: RayCluster
    terms: Terms
    groups: Sequence[Any]
    threads: Sequence[ThreadPoolExecutor]
    worlds: Sequence[World]
    resources: Mapping[str, float]

    @property
    def places(self) -> int:
        return len(self.groups)

    def begin(self, place: int, order: Order) -> Future[Answer]:
        return self.threads[place].submit(self._measured, place, order)

    def _measured(self, place: int, order: Order) -> Answer:
        """Ray begins it again where its worker goes away, elsewhere if there is room; what is then left behind is stored nowhere."""
        ray, group = self.cluster.ray, self.groups[place]
        strategy = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(group)
        # No worker that ends after each task, as is usual with GPUs: a new one takes half a second, and this one holds nothing of the GPU.
        remote = ray.remote(num_gpus=self.cluster.gpus, num_cpus=1, max_calls=0, max_retries=-1, resources=self.resources)(measured_there)
        world = self.worlds[place] if self.worlds else None
        try:
            answer = remote.options(name=f"round {order.index + 1}", scheduling_strategy=strategy).remote(self.terms, order, world)
            while not ray.wait([answer], timeout=LOOK_S)[0]:
                if not group.wait(LOOK_S):
                    ray.cancel(answer)
                    return Gone("its node went away, and the cluster has no other")
            found: Answer = ray.get(answer)
        except ray.exceptions.RayError as error:
            return Gone(str(error).splitlines()[0])
        return found


@contextmanager
def lent_on_ray(cluster: RayCluster, terms: Terms, most: int, worlds: Sequence[World]) -> Iterator[Lent]:
    """Up to ``most`` boards that nobody uses just now, of the type that this node has."""
    ray = cluster.ray
    resources = dict.fromkeys((*cluster.place.resources, *types_of(_own(ray))), LEAST)
    free = int(ray.available_resources().get(GPU, 0) // cluster.gpus)
    with ExitStack() as stack:
        groups = []
        for _ in range(min(free, most)):
            group = ray.util.placement_group([{GPU: cluster.gpus, "CPU": 1, **resources}])
            stack.callback(ray.util.remove_placement_group, group)
            if group.wait(RESERVING_S):
                groups.append(group)
        threads = [ThreadPoolExecutor(1) for _ in groups]
        try:
            yield Ray(cluster, terms, groups, threads, worlds, resources)
        finally:
            stack.close()
            for thread in threads:
                thread.shutdown()


def _own(ray: Any) -> list[Mapping[str, Any]]:
    """The node that this process is on."""
    own = ray.get_runtime_context().get_node_id()
    return [node for node in ray.nodes() if node["NodeID"] == own]


def measured_there(terms: Terms, order: Order, world: World | None) -> Answer:
    """On a node, on the first of the GPUs that the task has. Nothing is imported for later rounds: its processes end with the task."""
    device = os.environ.get(DEVICES, "").split(",")[0]
    try:
        with other_board(terms, Place(device=device or None, numa=False).variables, world) as board:
            return board.measured(replace(order, later=()))
    except AttnpinError as error:
        return Gone(str(error))

"""A Ray task for each scenario, which has one GPU, or a whole node. The code travels with the job; results go to the store."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import backends
import conf
import reports
import store
import tuner
from store.database.connect import file_of
from store.files import write_together
from tuner.errors import INTERRUPTED, MeasurementInvalid, UsageError
from tuner.executors.child import Children
from tuner.executors.executor import Done, Say, Task, arguments_of
from tuner.executors.nursery import Nursery
from tuner.executors.place import DEVICES, Place

ROOMS = (conf, tuner, reports, store, backends)
GPU = "GPU"
TYPE = "accelerator_type:"  # of resources; Ray gives a node that of its GPUs
LEAST = 0.001  # of a resource that a node has or has not
NODES_S, LOOK_EVERY_S = 60.0, 0.5

Files = list[tuple[str, bytes]]


@dataclass
class RayCluster:
    """``gpus``: how many a task takes; ``types`` of them that there are, as resources."""

    place: Place
    ray: Any
    gpus: float
    types: tuple[str, ...] = ()
    _running: set[Any] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def places(self) -> int:
        return self.place.at_once

    def run(self, task: Task, place: int, say: Say) -> Done:
        """Ray begins it again, elsewhere, where a worker or its node goes away; the run in the store goes on. Raises `MeasurementInvalid`
        where the cluster gives up."""
        needed = dict.fromkeys(self.place.resources or resources_of(task.overrides, self.types), LEAST)
        # A worker that ended after each task would take half a second to replace, and holds nothing of the GPU.
        remote = self.ray.remote(num_gpus=self.gpus, max_calls=0, resources=needed, max_retries=-1)(tuned_there)
        reference = remote.options(name=task.name).remote(list(task.overrides), task.config_dir, str(Path.cwd()))
        say("in the cluster's queue")
        with self._lock:
            self._running.add(reference)
        try:
            done, files = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            return _given_up(task, error, self.ray.exceptions)
        finally:
            with self._lock:
                self._running.discard(reference)
        write_together([(Path(name), content) for name, content in files])
        return Done(*done)

    def interrupt(self) -> None:
        with self._lock:
            for reference in self._running:
                self.ray.cancel(reference)


def _given_up(task: Task, error: Exception, kinds: Any) -> Done:
    """How a task ended that brought nothing back, by the kind of Ray's exception. Raises where somebody has to do something."""
    said = str(error).splitlines()[0]
    if isinstance(error, kinds.TaskCancelledError):  # by `RayCluster.interrupt`
        return Done(INTERRUPTED, None, "Interrupted")
    if isinstance(error, kinds.RuntimeEnvSetupError):
        raise UsageError(f"attnpin's code could not be unpacked on a node ({said}); look into its runtime_env logs") from error
    if isinstance(error, kinds.TaskUnschedulableError):
        raise UsageError(f"no node of the cluster can take {task.name} ({said}); look at executor.resources") from error
    if isinstance(error, kinds.OutOfMemoryError):
        raise MeasurementInvalid(f"a node had no memory left for {task.name}; keep others off it and run the same command again") from error
    raise MeasurementInvalid(f"the cluster gave {task.name} up ({said}); run the same command again") from error


def connected(place: Place, store_url: str, again: bool = False) -> RayCluster:
    """``again``: its nodes are waited for. Raises `UsageError` without Ray, a cluster or a GPU in it, or with a store that its nodes do
    not share."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UsageError("executor=ray needs the Python package 'ray'; pip install 'attnpin[ray]'") from error
    shipped = {"py_modules": [str(Path(str(room.__file__)).parent) for room in ROOMS]}
    try:
        ray.init(address=place.address, runtime_env=shipped, log_to_driver=False, ignore_reinit_error=True, logging_level="error")
    except (ConnectionError, ValueError) as error:
        raise UsageError(f"executor.address={place.address} leads to no Ray cluster ({str(error).splitlines()[0]}); start one") from error
    nodes = _nodes(ray, NODES_S if again else 0.0)
    refuse_unshared(store_url, nodes)
    return RayCluster(place, ray, gpus_of_a_task(place, nodes), types_of(nodes))


def _nodes(ray: Any, patience_s: float) -> list[dict[str, Any]]:
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


def types_of(nodes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The types of GPU that ``nodes`` have ("accelerator_type:H200")."""
    return tuple(dict.fromkeys(name for node in nodes for name in node["Resources"] if name.startswith(TYPE)))


def resources_of(overrides: Iterable[str], types: Iterable[str]) -> tuple[str, ...]:
    """Of ``types`` that of the profile which is asked for ("accelerator_type:H100" for gpu=h100_sxm); none where there is no such."""
    profile = next((override.partition("=")[2] for override in overrides if override.startswith("gpu=")), "")
    words = {name: name.removeprefix(TYPE).lower().replace("-", "_") for name in types}
    return tuple(name for name, word in words.items() if f"{profile}_".startswith(f"{word}_"))


def refuse_unshared(store_url: str, nodes: Sequence[Mapping[str, Any]]) -> None:
    hosts = {node["NodeManagerHostname"] for node in nodes}
    if len(hosts) > 1 and file_of(store_url) is not None:
        raise UsageError(f"store.url={store_url} is a file, of which each of the {len(hosts)} hosts would have its own; give a PostgreSQL")


def tuned_there(overrides: list[str], config_dir: str | None, folder: str) -> tuple[tuple[int, str | None, str], Files]:
    """On a node: the exit code, line and last words of `attnpin tune`; and its pin, where the node has no ``folder`` for it."""
    shared = os.path.isdir(folder)
    here = folder if shared else tempfile.mkdtemp(prefix="attnpin-")
    os.chdir(here)
    device = os.environ.get(DEVICES, "").split(",")[0]  # a task that has a whole node measures on its first
    more = [f"executor.device='{device}'", "executor.numa=false"] if device else []
    done = _told(arguments_of(Task(1, "", tuple(overrides), config_dir), more))
    return (done.exit_code, done.line, done.last), [] if shared else _files_in(Path(here))


def _told(arguments: list[str]) -> Done:
    """Where the task was begun again and the first one is still at work for a while, the device's lock keeps the second one waiting."""
    children = Children()
    try:
        return children.hear(lambda: _nursery().begin(arguments), lambda _: None)
    except KeyboardInterrupt:  # of `RayCluster.interrupt`
        children.interrupt()
        raise


@cache
def _nursery() -> Nursery:
    """That of a worker of Ray, for all its tasks."""
    return Nursery()


def _files_in(folder: Path) -> Files:
    found = (path for path in sorted(folder.rglob("pin.*")) if path.is_file())
    return [(str(path.relative_to(folder)), path.read_bytes()) for path in found]

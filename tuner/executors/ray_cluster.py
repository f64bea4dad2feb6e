"""A Ray task for each scenario, which has one GPU, or a whole node. The code travels with the job; results go to the store."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import backends
import conf
import reports
import store
import tuner
from store.files import write_together
from tuner.errors import INTERRUPTED, MeasurementInvalid, UsageError
from tuner.executors.child import Children
from tuner.executors.executor import Done, Say, Task, arguments_of
from tuner.executors.nursery import Nursery
from tuner.executors.place import DEVICES, Place
from tuner.executors.ray_head import REACH_S, comes, head_at
from tuner.executors.ray_nodes import LOOK_EVERY_S, gpus_of_a_task, nodes_of, offered_by, refuse_unshared, resources_of

ROOMS = (conf, tuner, reports, store, backends)
LEAST = 0.001  # of a resource that a node has or has not
NODES_S = 60.0

Files = list[tuple[str, bytes]]


@dataclass
class RayCluster:
    """``gpus``: how many a task takes; ``offered``: the names of the resources that there are, types of GPUs among them."""

    place: Place
    ray: Any
    gpus: float
    offered: tuple[str, ...] = ()
    _running: set[Any] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def places(self) -> int:
        return self.place.at_once

    def run(self, task: Task, place: int, say: Say) -> Done:
        """Ray begins it again, elsewhere, where a worker or its node goes away; the run in the store goes on. Raises `MeasurementInvalid`
        where the cluster gives up."""
        needed = dict.fromkeys(self.place.resources or resources_of(task.overrides, self.offered), LEAST)
        # A worker that ended after each task would take half a second to replace, and holds nothing of the GPU.
        remote = self.ray.remote(num_gpus=self.gpus, max_calls=0, resources=needed, max_retries=-1)(tuned_there)
        reference = remote.options(name=task.name).remote(list(task.overrides), task.config_dir, str(Path.cwd()))
        lacking = ", ".join(name for name in needed if name not in self.offered)
        say("in the cluster's queue" + (f", for a node with {lacking}, which none has so far" if lacking else ""))
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
    if (head := head_at(place.address)) is not None and not comes(head, REACH_S, LOOK_EVERY_S):  # Ray would ask for a minute
        raise UsageError(f"executor.address={place.address} leads to no Ray cluster (nobody listens there); start one")
    shipped = {"py_modules": [str(Path(str(room.__file__)).parent) for room in ROOMS]}
    try:
        ray.init(address=place.address, runtime_env=shipped, log_to_driver=False, ignore_reinit_error=True, logging_level="error")
    except (ConnectionError, ValueError) as error:
        raise UsageError(f"executor.address={place.address} leads to no Ray cluster ({str(error).splitlines()[0]}); start one") from error
    nodes = nodes_of(ray, NODES_S if again else 0.0)
    refuse_unshared(store_url, nodes, socket.gethostname())
    return RayCluster(place, ray, gpus_of_a_task(place, nodes), offered_by(nodes))


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

"""Against a real Ray cluster of this machine whose GPUs are made up: some 20 s a test, and none where Ray is not installed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from store.connect import open_store
from store.history import list_runs
from store.repository import load_run
from tests.tuner.simulated.telling import TWO_ARMS, url_in
from tuner.errors import UsageError
from tuner.executors.executor import Done, Task
from tuner.executors.place import Place
from tuner.executors.ray_cluster import RayCluster, connected, gpus_of_a_task, refuse_unshared

ROUNDS = 2  # of `TWO_ARMS`


def node(host: str, gpus: float) -> dict[str, Any]:
    return {"NodeManagerHostname": host, "Resources": {"CPU": 8.0, **({"GPU": gpus} if gpus else {})}, "Alive": True}


def test_a_task_has_a_whole_node_while_hosts_are_exclusive_and_one_gpu_otherwise() -> None:
    nodes = [node("a", 8), node("b", 4), node("head", 0)]
    assert gpus_of_a_task(Place(), nodes) == 8 and gpus_of_a_task(Place(exclusive_host=False), nodes) == 1
    with pytest.raises(UsageError, match="has no GPU"):
        gpus_of_a_task(Place(), nodes[2:])


def test_a_file_is_no_store_for_several_hosts() -> None:
    refuse_unshared("sqlite:///a.db", [node("a", 1), node("a", 1)])
    refuse_unshared("postgresql+psycopg://h/d", [node("a", 1), node("b", 1)])
    with pytest.raises(UsageError, match="of which each of the 2 hosts would have its own; give a PostgreSQL"):
        refuse_unshared("sqlite:///a.db", [node("a", 1), node("b", 1)])


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without GPUs and one node with one."""
    ray = pytest.importorskip("ray", reason="the package ray is not installed (the extra ray)")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_gpus": 0, "num_cpus": 1, "include_dashboard": False})
    made.first = made.add_node(num_gpus=1, num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


class Running:
    """One simulated scenario in the cluster."""

    def __init__(self, executor: RayCluster, folder: Path) -> None:
        self.url, self.ended = url_in(folder), []  # type: str, list[Done]
        task = Task(1, "one", (*TWO_ARMS, f"store.url={self.url}", f"pin.path={folder}/pin/pin.yaml"))
        open_store(self.url)
        self._thread = threading.Thread(target=lambda: self.ended.append(executor.run(task, 0, lambda _: None)))
        self._thread.start()

    def until(self, reached: Callable[[int], bool]) -> None:
        """Until as many rounds are stored."""
        while not any(reached(found.rounds) for found in list_runs(open_store(self.url))):
            assert self._thread.is_alive(), self.ended

    def end(self) -> Done:
        self._thread.join(100)
        return self.ended[0]


def check_every_round_once(running: Running) -> None:
    done = running.end()
    assert done.exit_code == 0, done
    (found,) = list_runs(open_store(running.url))
    run = load_run(open_store(running.url), found.id)
    assert (found.status, [measured.index for measured in run.rounds]) == ("finished", list(range(ROUNDS)))


def test_a_worker_that_is_killed_loses_and_doubles_no_round(cluster: Any, tmp_path: Path) -> None:
    running = Running(connected(Place(kind="ray", address=cluster.address), url_in(tmp_path)), tmp_path)
    running.until(lambda rounds: rounds >= 1)
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    (pid,) = [int(line.split()[0]) for line in listed.splitlines() if line.split()[2].startswith("ray::one") or "ray::tuned_there" in line]
    os.kill(pid, signal.SIGKILL)
    check_every_round_once(running)


def test_a_node_that_is_taken_away_loses_and_doubles_no_round(cluster: Any, tmp_path: Path) -> None:
    running = Running(connected(Place(kind="ray", address=cluster.address), url_in(tmp_path)), tmp_path)
    running.until(lambda rounds: rounds >= 1)
    cluster.add_node(num_gpus=1, num_cpus=1)
    cluster.remove_node(cluster.first, allow_graceful=False)
    check_every_round_once(running)

"""Rounds of one scenario on several made-up GPUs of a real Ray cluster of this machine: some 30 s a test, and none where Ray is not
installed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from store.runs.run import Run
from tests.tuner.rounds.boards import SIX_ROUNDS, check_every_round_once, decided, times
from tests.tuner.simulated.telling import tuned, url_in
from tuner.executors.executor import Done, Task
from tuner.executors.place import Place
from tuner.executors.ray_cluster import connected

OF_A_SWEEP = ("executor.since='2026-01-02T03:04:05+00:00'", "executor.spread=true")  # of one scenario
TWO = ("gpu.simulated.boards=[{}]",)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without GPUs and two nodes with one each."""
    ray = pytest.importorskip("ray", reason="the package ray is not installed (the extra ray)")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_gpus": 0, "num_cpus": 1, "include_dashboard": False})
    made.nodes = [made.add_node(num_gpus=1, num_cpus=2) for _ in range(2)]
    yield made
    ray.shutdown()
    made.shutdown()


class Running:
    """One simulated scenario in the cluster."""

    def __init__(self, cluster: Any, folder: Path, *more: str) -> None:
        self.url = url_in(folder)
        self.ended: list[Done] = []
        place = Place(kind="ray", address=cluster.address, exclusive_host=False)
        words = ("executor=ray", f"executor.address='{cluster.address}'", "executor.exclusive_host=false", *OF_A_SWEEP)
        task = Task(1, "one", (*SIX_ROUNDS, *words, f"store.url={self.url}", f"pin.path={folder}/pin/pin.yaml", *more))
        open_store(self.url)
        executor = connected(place, self.url)
        self._thread = threading.Thread(target=lambda: self.ended.append(executor.run(task, 0, lambda _: None)))
        self._thread.start()

    @property
    def run(self) -> Run:
        (found,) = list_runs(open_store(self.url))
        return load_run(open_store(self.url), found.id)

    def worker(self) -> int:
        """The process of the cluster that is at a round, once there is one."""
        while self._thread.is_alive():
            listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
            if pids := [int(line.split()[0]) for line in listed.splitlines() if "ray::round" in line or "ray::measured_there" in line]:
                return pids[0]
        raise AssertionError(self.ended)

    def end(self) -> Run:
        self._thread.join(400)
        assert [done.exit_code for done in self.ended] == [0], self.ended
        return self.run


def test_a_scenario_has_the_rounds_and_the_decision_of_one_gpu_on_two(cluster: Any, tmp_path: Path) -> None:
    alone = tuned(tmp_path / "alone", *SIX_ROUNDS).run
    together = Running(cluster, tmp_path, *TWO).end()
    assert len(together.boards) == 2 and times(together) == times(alone)
    assert decided(together) == decided(alone)


def test_a_worker_that_is_killed_in_a_round_loses_and_doubles_none(cluster: Any, tmp_path: Path) -> None:
    running = Running(cluster, tmp_path, *TWO)
    os.kill(running.worker(), signal.SIGKILL)
    check_every_round_once(running.end())


def test_a_node_that_is_taken_away_in_a_round_loses_and_doubles_none(cluster: Any, tmp_path: Path) -> None:
    running = Running(cluster, tmp_path, *TWO)
    running.worker()
    cluster.remove_node(cluster.nodes[1], allow_graceful=False)
    check_every_round_once(running.end())

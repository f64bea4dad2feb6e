"""Against a real Ray cluster of this machine whose GPUs are made up: 20 to 60 s a test, and none where Ray is not installed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from tests.tuner.simulated.telling import TWO_ARMS, url_in
from tuner.errors import MeasurementInvalid, UsageError
from tuner.executors import ray_cluster
from tuner.executors.executor import Done, Say, Task
from tuner.executors.place import Place
from tuner.executors.ray_cluster import RayCluster, connected
from tuner.executors.ray_nodes import gpus_of_a_task, offered_by, refuse_unshared, resources_of

ROOT = Path(__file__).parents[3]
ROUNDS = 2  # of `TWO_ARMS`
HEAD = {"num_cpus": 1, "include_dashboard": False}


def node(host: str, gpus: float) -> dict[str, Any]:
    return {"NodeManagerHostname": host, "Resources": {"CPU": 8.0, **({"GPU": gpus} if gpus else {})}, "Alive": True}


def test_a_task_has_a_whole_node_while_hosts_are_exclusive_and_one_gpu_otherwise() -> None:
    nodes = [node("a", 8), node("b", 4), node("head", 0)]
    assert gpus_of_a_task(Place(), nodes) == 8 and gpus_of_a_task(Place(exclusive_host=False), nodes) == 1
    with pytest.raises(UsageError, match="has no GPU"):
        gpus_of_a_task(Place(), nodes[2:])


@pytest.mark.parametrize(
    ("profile", "types", "wanted"),
    [
        ("h200", ["H200", "H20"], ["H200"]),
        ("h100_sxm", ["H100", "H200"], ["H100"]),
        ("rtx_pro_6000", ["RTX-PRO-6000"], ["RTX-PRO-6000"]),
        ("h20", ["H200"], []),
        ("auto", ["H200"], []),
    ],
)
def test_a_task_asks_for_the_type_of_gpu_that_its_profile_is_of(profile: str, types: list[str], wanted: list[str]) -> None:
    offered = offered_by([{"Resources": {"GPU": 8.0, f"accelerator_type:{name}": 1.0}} for name in types])
    assert list(resources_of([f"gpu={profile}", "model=qwen3_8b"], offered)) == [f"accelerator_type:{name}" for name in wanted]
    assert resources_of(["model=qwen3_8b"], offered) == ()


def test_a_file_is_no_store_for_several_hosts() -> None:
    """This one is a host, too: what a cluster elsewhere stores is not to stay there."""
    refuse_unshared("sqlite:///a.db", [node("a", 1), node("a", 1)], "a")
    refuse_unshared("postgresql+psycopg://h/d", [node("a", 1), node("b", 1)], "c")
    for nodes, here in (([node("a", 1), node("b", 1)], "a"), ([node("b", 1)], "a")):
        with pytest.raises(UsageError, match=r"of which each of the 2 hosts \(a, b\) would have its own; give a PostgreSQL"):
            refuse_unshared("sqlite:///a.db", nodes, here)


class Failing:
    """A cluster whose tasks bring nothing back but ``error``; ``exceptions`` are its kinds, by Ray's names."""

    class exceptions:
        RayError = type("RayError", (Exception,), {})
        TaskCancelledError = type("TaskCancelledError", (RayError,), {})
        RuntimeEnvSetupError = type("RuntimeEnvSetupError", (RayError,), {})
        TaskUnschedulableError = type("TaskUnschedulableError", (RayError,), {})
        OutOfMemoryError = type("OutOfMemoryError", (RayError,), {})
        NodeDiedError = type("NodeDiedError", (RayError,), {})

    def __init__(self, kind: str) -> None:
        self._error = getattr(self.exceptions, kind)("so it is\nand more")

    def remote(self, *task: Any, **wanted: Any) -> Any:
        return lambda function: self

    def options(self, name: str) -> Any:
        return type("Named", (), {"remote": staticmethod(lambda *given: "reference")})

    def get(self, reference: Any) -> Any:
        raise self._error


def ended(kind: str, resources: tuple[str, ...] = (), said: Say = lambda _: None) -> Done:
    return RayCluster(Place(kind="ray", resources=resources), Failing(kind), 1.0, ("GPU", "rack:a")).run(
        Task(1, "traffic=chat", ()), 0, said
    )


@pytest.mark.parametrize(
    ("kind", "raised", "said"),
    [
        ("RuntimeEnvSetupError", UsageError, r"could not be unpacked on a node \(so it is\); look into"),
        ("TaskUnschedulableError", UsageError, r"no node of the cluster can take traffic=chat \(so it is\); look at executor.resources"),
        ("OutOfMemoryError", MeasurementInvalid, "no memory left for traffic=chat; keep others off it"),
        ("NodeDiedError", MeasurementInvalid, r"gave traffic=chat up \(so it is\); run the same command again"),
    ],
)
def test_a_failure_of_ray_is_told_by_its_kind(kind: str, raised: type[Exception], said: str) -> None:
    with pytest.raises(raised, match=said):
        ended(kind)


def test_a_task_that_was_cancelled_was_interrupted() -> None:
    assert ended("TaskCancelledError") == Done(130, None, "Interrupted")


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [
        ((), "in the cluster's queue"),
        (("rack:a",), "in the cluster's queue"),
        (("rack:a", "rack:b"), "in the cluster's queue, for a node with rack:b, which none has so far"),
    ],
)
def test_what_no_node_has_is_named_while_it_is_waited_for(wanted: tuple[str, ...], heard: str) -> None:
    said = list[str]()
    ended("TaskCancelledError", wanted, said.append)
    assert said == [heard]


def test_an_address_at_which_nobody_listens_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the package ray is not installed (the extra ray)")
    monkeypatch.setattr(ray_cluster, "REACH_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UsageError, match=f"executor.address={address} leads to no Ray cluster .nobody listens there.; start one"):
        connected(Place(kind="ray", address=address), "postgresql://h/d")


def test_the_kinds_are_those_that_ray_has() -> None:
    kinds = pytest.importorskip("ray.exceptions", reason="the package ray is not installed (the extra ray)")
    assert all(issubclass(getattr(kinds, name), kinds.RayError) for name in vars(Failing.exceptions) if not name.startswith("_"))


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without GPUs and one node with one."""
    ray = pytest.importorskip("ray", reason="the package ray is not installed (the extra ray)")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_gpus": 0, **HEAD})
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


@pytest.mark.timeout(300)
def test_a_head_that_is_restarted_loses_and_doubles_no_round_of_a_sweep(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the package ray is not installed (the extra ray)")
    from ray.cluster_utils import Cluster

    first = Cluster(initialize_head=True, head_node_args={"num_gpus": 1, **HEAD})
    store, arms = open_store(url_in(tmp_path)), [word for word in TWO_ARMS if not word.startswith("traffic=")]
    pins, address = f"pin.path={tmp_path}/pins/${{traffic.name}}/pin.yaml", first.address
    asked = [*arms, "traffic=single_user,chat", "executor=ray", f"executor.address='{address}'", f"store.url={store.url}", pins]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-P", "-m", "tuner", "tune", "--multirun", *asked], env=environment) as sweep:
        try:
            while not any(found.rounds for found in list_runs(store)):
                assert sweep.poll() is None
            first.remove_node(first.head_node, allow_graceful=False)
            at = int(address.rpartition(":")[2])
            again = Cluster(initialize_head=True, head_node_args={"num_gpus": 1, "gcs_server_port": at, **HEAD})
            assert again.address == address and sweep.wait(240) == 0
        finally:
            sweep.kill()
    again.shutdown()
    runs = [load_run(store, found.id) for found in list_runs(store)]
    assert Counter(run.scenario.traffic.name for run in runs) == {"single_user": 1, "chat": 1}
    assert all([measured.index for measured in run.rounds] == list(range(ROUNDS)) for run in runs)

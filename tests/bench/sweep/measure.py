"""A few scenarios, then what all would cost as `attnpin plan` foretells it from these, then all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.wire import from_plain
from store.files import write_together
from store.sweeps.sweep_cost import SweepCost
from tests.bench.sweep.asked import overrides, pilot

ROOT = Path(__file__).parents[3]
FORETOLD, WALL, STORE = "foretold.json", "wall.jsonl", "attnpin.db"


def measure(folder: Path, scenarios: int = 1000, boards: int = 3) -> int:
    """The exit code of the sweep. What is in ``folder`` is gone on with."""
    folder.mkdir(parents=True, exist_ok=True)
    with cluster(boards) as address:
        if not (folder / FORETOLD).exists():
            swept(folder, "pilot", pilot(), boards, address)
            foretell(folder, overrides(scenarios), boards)
        return swept(folder, "all", overrides(scenarios), boards, address)


def foretell(folder: Path, asked: Sequence[str], boards: int) -> None:
    plan = [*_attnpin(), "plan", "--multirun", *asked, f"store.url=sqlite:///{folder}/{STORE}", "--json"]
    told = json.loads(subprocess.run(plan, env=environment(), stdout=subprocess.PIPE, check=True).stdout)
    write_together([(folder / FORETOLD, json.dumps({"boards": boards, "cost": told}).encode())])


def foretold(folder: Path) -> tuple[int, SweepCost]:
    """For how many boards, and what."""
    told: dict[str, Any] = json.loads((folder / FORETOLD).read_text())
    return told["boards"], from_plain(SweepCost, {key: value for key, value in told["cost"].items() if key != "board_seconds"})


def swept(folder: Path, name: str, asked: Sequence[str], boards: int, address: str) -> int:
    """`attnpin tune` of all that is ``asked``; how long it took is kept, whether or not it came to its end."""
    pins = f"{folder}/{name}/" + "${model.name}-${traffic.name}-${traffic.concurrency}/pin.yaml"
    place = ("executor=ray", f"executor.address='{address}'", "executor.exclusive_host=false", f"executor.at_once={boards}")
    command = [*_attnpin(), "tune", "--multirun", *asked, *place, f"store.url=sqlite:///{folder}/{STORE}", f"pin.path={pins}", "--json"]
    began = time.monotonic()
    try:
        return subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL).returncode
    finally:
        with (folder / WALL).open("a") as file:
            file.write(json.dumps({"sweep": name, "seconds": time.monotonic() - began}) + "\n")


@contextmanager
def cluster(boards: int) -> Iterator[str]:
    """The address of one on this machine with so many GPUs, which are made up."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ.update(environment())  # of its workers too
    made = Cluster(initialize_head=True, head_node_args={"num_gpus": boards, "num_cpus": boards + 1, "include_dashboard": False})
    try:
        yield made.address
    finally:
        ray.shutdown()
        made.shutdown()


def environment() -> dict[str, str]:
    """Compiled files are written: a thousand processes would each compile their own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def _attnpin() -> list[str]:
    return [sys.executable, "-P", "-m", "tuner"]

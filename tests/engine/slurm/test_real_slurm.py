"""Sweeps through Slurm itself: a minute, since what a cluster waits for is set as low as it may be (`one_node`)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from store.runs.run import Run
from tests.engine.slurm.one_node import URGENT, missing, one_node
from tests.tuner.rounds.boards import SIX_ROUNDS, check_every_round_once, decided, times
from tests.tuner.simulated.telling import TWO_ARMS, tuned, url_in

ROOT = Path(__file__).parents[3]
SUBMITTED = ("executor=slurm", "executor.submit=true", "executor.options=['--gpus-per-node=1','--time=10']")

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300), pytest.mark.skipif(bool(missing()), reason=f"not on the path: {missing()}")]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with one_node(tmp_path_factory.mktemp("slurm")) as configuration:
        yield {**os.environ, "SLURM_CONF": configuration, "PYTHONPATH": str(ROOT)}


def begun(folder: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    pin = f"pin.path={folder}/pins/" + "${model.name}-${traffic.concurrency}/pin.yaml"
    command = [sys.executable, "-P", "-m", "tuner", "tune", *words, *SUBMITTED, f"store.url={url_in(folder)}", pin]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def stored(folder: Path) -> list[Run]:
    store = open_store(url_in(folder))
    return [load_run(store, found.id) for found in list_runs(store)]


def test_every_scenario_of_a_sweep_is_a_job_and_has_its_pin(slurm: dict[str, str], tmp_path: Path) -> None:
    sweep = begun(tmp_path, slurm, "--multirun", *TWO_ARMS, "model=qwen3_8b,llama3_1_8b", "traffic.concurrency=4,8")
    out, _ = sweep.communicate()
    assert sweep.returncode == 0, out
    assert len(list(tmp_path.glob("slurm/*.sh"))) == len(list(tmp_path.glob("pins/*/pin.yaml"))) == 4
    assert [run.status for run in stored(tmp_path)] == ["finished"] * 4


def test_ctrl_c_leaves_no_job_behind(slurm: dict[str, str], tmp_path: Path) -> None:
    sweep = begun(tmp_path, slurm, "--multirun", *TWO_ARMS, "traffic.concurrency=4,8")
    while not any("run " in log.read_text() for log in tmp_path.glob("slurm/*.log")):
        assert sweep.poll() is None, sweep.communicate()
        time.sleep(0.2)
    sweep.send_signal(signal.SIGINT)
    sweep.communicate()
    assert sweep.returncode == 130
    deadline = time.monotonic() + 60
    while (
        left := subprocess.run(["squeue", "--noheader"], env=slurm, capture_output=True, text=True).stdout
    ) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not left


def test_a_job_that_is_preempted_in_a_round_goes_on_and_decides_as_one_that_was_not(slurm: dict[str, str], tmp_path: Path) -> None:
    alone = tuned(tmp_path / "alone", *SIX_ROUNDS).run
    job = begun(tmp_path, slurm, *SIX_ROUNDS)
    while not any("round 2" in log.read_text() for log in tmp_path.glob("slurm/*.log")):
        assert job.poll() is None, job.communicate()
        time.sleep(0.2)
    subprocess.run(["srun", f"--partition={URGENT}", "--exclusive", "--gpus-per-node=1", "true"], env=slurm, check=True)
    out, _ = job.communicate()
    assert job.returncode == 0, out
    (log,) = tmp_path.glob("slurm/*.log")
    assert "DUE TO PREEMPTION" in log.read_text() and "going on with run" in log.read_text()
    (run,) = stored(tmp_path)
    check_every_round_once(run)
    assert times(run) == times(alone) and decided(run) == decided(alone)

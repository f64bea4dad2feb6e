"""Against an sbatch that runs the script at once, as a queue with nothing in it would."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from reports.sweep import ending_json
from store.sweeps.sweep import Ending
from tuner.errors import UsageError
from tuner.executors import executor
from tuner.executors.executor import Done, Task
from tuner.executors.place import Place
from tuner.executors.slurm import Slurm

TASK = Task(1, "traffic=chat", ("gpu=h200", "traffic=chat"))
ENDED = ending_json(Ending(0, "leave the flags unset", "r1", "NVIDIA H200", "keep", (), "", "pins/a/pin.yaml")).strip()
SBATCH = (
    '#!/bin/sh\necho "$@" >> {folder}/sbatch.txt\necho 4711\nfor script in "$@"; do :; done\nexec sh "$script" 2>> "${{script%.sh}}.log"\n'
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An sbatch on the path, and a folder with a space in its name."""
    (tmp_path / "bin").mkdir()
    programs(tmp_path, "sbatch", SBATCH.format(folder=tmp_path))
    programs(tmp_path, "scancel", f'#!/bin/sh\necho "$@" >> {tmp_path}/scancel.txt\n')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return Place("slurm", folder=str(tmp_path / "my jobs"), submit=True, options=("--gpus-per-node=1", "--time=60"), at_once=4)


def programs(folder: Path, name: str, text: str) -> None:
    (folder / "bin" / name).write_text(text)
    (folder / "bin" / name).chmod(stat.S_IRWXU)


def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What stands in for attnpin in a job."""
    programs(tmp_path, "attnpin", f"#!/bin/sh\n{text}\n")
    monkeypatch.setattr(executor, "program", lambda: [f"{tmp_path}/bin/attnpin"])


def test_a_job_is_submitted_waited_for_and_brings_its_line_back(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(tmp_path, monkeypatch, f"echo attnpin: done >&2; echo '{ENDED}'")
    slurm = Slurm(place)
    assert slurm.places == 4 and slurm.run(TASK, 0, lambda _: None) == Done(0, ENDED, "done")
    (script,) = (tmp_path / "my jobs").glob("*.sh")
    assert (tmp_path / "sbatch.txt").read_text() == f"--parsable --wait {script}\n"
    lines = script.read_text().splitlines()
    assert {"#SBATCH --exclusive", "#SBATCH --requeue", "#SBATCH --gpus-per-node=1", "#SBATCH --time=60"} <= set(lines)
    assert f"{tmp_path}/bin/attnpin tune gpu=h200 traffic=chat --json > '{script.with_suffix('.json')}'" in lines


def test_a_job_that_fails_has_its_code_and_what_it_said_last(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs(tmp_path, monkeypatch, "echo 'attnpin: too hot' >&2; exit 4")
    assert Slurm(place).run(TASK, 0, lambda _: None) == Done(4, None, "too hot")


@pytest.mark.parametrize("code", [129, 130, 143])
def test_a_preempted_job_has_not_ended(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    runs(tmp_path, monkeypatch, f"exit {code}")
    done = Slurm(place).run(TASK, 0, lambda _: None)
    assert done.exit_code == code and done.line is None and not list((tmp_path / "my jobs").glob("*.code"))


def test_a_job_that_slurm_does_not_take_is_no_verdict(place: Place, tmp_path: Path) -> None:
    programs(tmp_path, "sbatch", "#!/bin/sh\necho 'sbatch: error: Invalid account' >&2; exit 1\n")
    assert Slurm(place).run(TASK, 0, lambda _: None) == Done(4, None, "sbatch: error: Invalid account")


def test_without_submitting_the_script_is_written_and_what_it_leaves_is_gathered_once_by_the_same_command(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(tmp_path, monkeypatch, f"echo '{ENDED}'")
    slurm = Slurm(replace(place, submit=False))
    asked = slurm.run(TASK, 0, lambda _: None)
    (script,) = (tmp_path / "my jobs").glob("*.sh")
    assert not asked.ran and (asked.exit_code, asked.last) == (3, f"not submitted: sbatch '{tmp_path}/my jobs'/{script.name}")
    assert not (tmp_path / "sbatch.txt").exists()
    subprocess.run(["sh", str(script)], check=True)
    assert slurm.run(TASK, 0, lambda _: None) == Done(0, ENDED, "", ran=False)
    assert slurm.run(TASK, 0, lambda _: None).exit_code == 3


def test_after_ctrl_c_the_jobs_are_cancelled_by_name_though_nobody_waits_for_them_any_more(place: Place, tmp_path: Path) -> None:
    """`Children.interrupt` returns as soon as sbatch got its signal; here it has ended by then."""
    programs(tmp_path, "sbatch", "#!/bin/sh\necho queued >&2\nexec sleep 60\n")
    slurm, queued = Slurm(place), threading.Event()
    waiting = threading.Thread(target=slurm.run, args=(TASK, 0, lambda word: queued.set() if word == "queued" else None))
    waiting.start()
    assert queued.wait(20)
    stop = slurm.children.interrupt
    slurm.children.interrupt = lambda: (stop(), waiting.join(20))  # type: ignore[method-assign, func-returns-value, assignment, return-value]
    slurm.interrupt()
    (job,) = (line.split("=")[1] for line in next((tmp_path / "my jobs").glob("*.sh")).read_text().splitlines() if "job-name" in line)
    assert not waiting.is_alive() and (tmp_path / "scancel.txt").read_text() == f"--name={job}\n"


def test_where_no_sbatch_is_there_to_submit_is_refused(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="executor.submit=true needs sbatch on the path"):
        Slurm(place)
    Slurm(replace(place, submit=False))

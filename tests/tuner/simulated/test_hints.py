"""What a command says to do next runs as it is printed. Times are put into the store instead of measured, which is quicker."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from backends.outcome import Outcome
from store.runs.repository import add_round, add_trials
from store.runs.run import Run
from tests.tuner.building import Recipe, build
from tests.tuner.simulated.telling import Told, told
from tuner.job import Job

ASKED = (
    *("gpu=simulated", "model=qwen3_8b", "engine.role=decode", "traffic.concurrency=1", "measure.processes=2"),
    *("decide.min_gain=0.001", "backend=[fa3,flashinfer]", "gpu.simulated.noise.process_pct=0.1"),
)
MICROSECONDS = {"fa3": 280.0, "flashinfer": 100.0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory; its files have to be named, and their names quoted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my runs").mkdir()
    return tmp_path


def measuring(failing: Collection[str]) -> Callable[[Job, Run], None]:
    """All that a run asks for, once; arms of the ``failing`` backends crash."""

    def work_off(job: Job, run: Run) -> None:
        if run.trials:
            return
        seats = [(arm, weighted.cell.name) for arm in run.arms for weighted in run.cells]
        failures = {(arm.name, cell): (Outcome.CRASHED, "SIGSEGV") for arm, cell in seats if arm.backend in failing}
        times = {(arm.name, cell): MICROSECONDS[arm.backend] for arm, cell in seats}
        made = build(Recipe(run.arms, times, run.cells, processes=2, failures=failures))
        add_trials(job.store, run.id, made.trials)
        for measured in made.rounds if len(failures) < len(seats) else ():
            add_round(job.store, run.id, measured)

    return work_off


def typed(folder: Path, line: str, failing: Collection[str] = ()) -> Told:
    """As a shell would: quotes and comments are taken off."""
    words = shlex.split(line, comments=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        for command in ("audit", "tune"):
            patch.setattr(f"tuner.{command}.work_off", measuring(failing))
        return told(folder, *words[1:])


def hint(label: str, told: Told) -> str:
    return re.findall(rf"^ *{label} +(attnpin .*)$", told.out, re.MULTILINE)[-1]


def first(command: str) -> str:
    return shlex.join(["attnpin", command, *ASKED, "store.url='sqlite:///my runs/a.db'"])


def test_from_an_audit_to_a_pin_to_its_check(folder: Path) -> None:
    audited = typed(folder, first("audit"))
    assert audited.code == 1 and "fa3 is slower" in audited.out
    assert f"run {hint('report', audited).split()[3]}" in typed(folder, hint("report", audited)).out
    tuned = typed(folder, f"{hint('next', audited).partition('  #')[0]} \"pin.path='my pins/pin.yaml'\"")
    assert tuned.code == 0 and "--decode-attention-backend flashinfer" in tuned.out
    assert typed(folder, hint("report", tuned)).code == 0
    checked = typed(folder, hint("next", tuned))
    assert checked.code == 0 and checked.out.startswith("unchanged: ") and "'my pins/pin.yaml'" in hint("next", tuned)
    elsewhere = typed(folder, "attnpin check --pin 'my pins/pin.yaml' --fast")
    assert elsewhere.code == 2 and "was made on simulated H200, which this machine is not; check it with gpu=sim" in elsewhere.err


def test_from_a_default_that_fails_to_the_best_of_the_rest(folder: Path) -> None:
    broken = typed(folder, first("tune"), ["fa3"])
    assert broken.code == 3 and hint("next", broken).endswith(" --without-default  # pins the best of the rest")
    pinned = typed(folder, hint("next", broken), ["fa3"])
    assert pinned.code == 0 and typed(folder, hint("next", pinned)).code == 0


def test_from_arms_that_all_fail_to_why(folder: Path) -> None:
    hopeless = typed(folder, first("tune"), ["fa3", "flashinfer"])
    assert hopeless.code == 3
    planned = typed(folder, hint("next", hopeless))
    assert planned.code == 0 and planned.out.startswith("qwen3_8b on simulated H200")

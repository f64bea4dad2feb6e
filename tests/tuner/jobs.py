"""Whole jobs on this CPU, small enough for a test: a folder with a database and a pin, and ways to run attnpin on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from backends.measured import Trial
from store.database.connect import open_store
from store.pins.pin import Pin
from store.pins.pin_files import read_pin
from store.runs.repository import begin_run, newest_run
from store.runs.run import Run
from tests.tuner.scripted import scripted_cell_round, scripted_trial
from tuner import tune
from tuner.command_line.boundary import guarded
from tuner.commands import measuring
from tuner.device import session_of
from tuner.settings import compose

ROOT = Path(__file__).parents[2]
TIMING = {"blocks": 2, "replays": 2, "replay_ms": 0.2, "discard_ms": 0, "warmup_s": 0, "warmup_cap_s": 0.1}
SMALL = (
    "traffic.concurrency=1",
    "traffic.prompt={median_tokens: 64, p95_tokens: 128}",
    "traffic.output={median_tokens: 16, p95_tokens: 32}",
    "traffic.cached_share=0",
    "model.context_length=512",
    "measure.processes=2",
    "measure.memory_fraction=0.02",
    *(f"measure.timing.{key}={value}" for key, value in TIMING.items()),
)
UNDECIDED = ("decide.tie_margin=0.0001", "decide.min_gain=0.0001")  # equal arms race to the end
DECODE, PREFILL = "decode-1", "prefill-fresh"  # the cells this traffic makes
DEFAULT = "torch_native/p1@kernel"
ENTRY = """\
# @package backends.{name}
source: made up
graph: false
drivers: [{{provider: kernel, driver: "{driver}", packages: [{package}], devices: [cpu]}}]
"""


@dataclass(frozen=True)
class Site:
    """``key`` names the device's lock, ``code`` is what workers run. Backends are those of `with_backends`."""

    folder: Path
    key: str
    code: bytes
    backends: tuple[str, ...] = ("torch_native",)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/attnpin.db"

    @property
    def pin_path(self) -> Path:
        return self.folder / "pins" / "pin.yaml"

    @property
    def pin(self) -> Pin:
        return read_pin(self.pin_path)

    @property
    def run(self) -> Run:
        """The run begun last."""
        run = newest_run(open_store(self.url))
        assert run is not None
        return run

    def with_backends(self, *names: str, driver: str | None = None, package: str = "torch") -> Site:
        """Beside those it has; each is an entry of the `backend` group in this site's --config-dir."""
        group = self.folder / "conf" / "backend"
        group.mkdir(parents=True, exist_ok=True)
        for name in names:
            (group / f"{name}.yaml").write_text(ENTRY.format(name=name, driver=driver or f"scripted:{name}", package=package))
        return replace(self, backends=tuple(dict.fromkeys((*self.backends, *names))))

    def begin(self, run: Run, trials: tuple[Trial, ...]) -> None:
        """Store an unfinished run like ``run``, with nothing measured but ``trials``."""
        unfinished = replace(run, status="running", trials=trials, rounds=(), decision=None, wall_seconds=())
        begin_run(open_store(self.url), unfinished, fresh=True)

    @property
    def config_dir(self) -> str | None:
        return str(self.folder / "conf") if (self.folder / "conf").exists() else None

    def overrides(self, *more: str) -> list[str]:
        return [*SMALL, f"backend=[{','.join(self.backends)}]", f"store.url={self.url}", f"pin.path={self.pin_path}", *more]

    def tune(self, *more: str) -> int:
        """In this process, without Hydra's application around it; the exit code."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tune, "device_key", lambda board: self.key)
            patch.setattr(session_of, "worker_code", lambda settings: self.code)
            return guarded(lambda: measuring.tune_with(compose(self.overrides(*more), self.config_dir)), debug=False)

    def start(self, *more: str) -> subprocess.Popen[str]:
        """As a process of its own, from its command line."""
        code = self.folder / "code.zip"
        code.write_bytes(self.code)
        options = ["--config-dir", self.config_dir] if self.config_dir else []
        lone = str(ROOT / "tests" / "tuner" / "lone.py")
        command = [sys.executable, "-P", lone, self.key, str(code), "tune", *self.overrides(*more), *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=_heed_interrupts
        )


def _heed_interrupts() -> None:
    """A shell starts background jobs with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def default_driver(driver: str) -> str:
    """The override that gives the default another driver."""
    return f'backends.torch_native.drivers=[{{provider: kernel, driver: "{driver}", packages: [torch], devices: [cpu]}}]'


def outcomes(run: Run, backend: str) -> dict[str, str]:
    """Outcome by cell of the arm of ``backend``, the last of several."""
    return {trial.cell: trial.outcome.value for trial in run.trials if trial.arm.startswith(f"{backend}/")}


def details(run: Run, backend: str) -> str:
    return "; ".join(str(trial.detail) for trial in run.trials if trial.arm.startswith(f"{backend}/"))


def raced(run: Run, index: int) -> set[tuple[str, str]]:
    """(backend, cell) of every visit in one round."""
    return {(visit.arm.partition("/")[0], cell.cell) for cell in run.rounds[index].cells for visit in cell.visits}


def assert_stored_as_measured(run: Run) -> None:
    """Every trial and round of a scripted run once, to the bit what the worker said."""
    assert Counter((trial.arm, trial.cell) for trial in run.trials) == {
        (arm.name, cell): 1 for arm in run.arms for cell in (DECODE, PREFILL)
    }
    assert all(trial == scripted_trial(trial.arm, trial.arm.partition("/")[0], trial.cell) for trial in run.trials)
    for index, measured in enumerate(run.rounds):
        assert measured.index == index and {cell.cell for cell in measured.cells} == {DECODE, PREFILL}
        for cell in measured.cells:
            assert cell == scripted_cell_round(index, [arm.name for arm in run.arms], cell.cell, run.scenario.measure.timing.replays)

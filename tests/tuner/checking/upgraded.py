"""A pin whose decode is FlashInfer's and whose default is FA3, the run behind it, and the same arms after an upgrade. Times are made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.environment import Distribution, Environment
from backends.measured import KernelNode, Trial
from store.runs.run import Run
from store.verdicts.verdict import Change
from tests.tuner.building import one_cell_each
from tuner.checking.resting import Resting, resting
from tuner.checking.screen import Screen
from tuner.decide import decide
from tuner.verdicts.session import SessionNoise

FA3, FLASHINFER, WAVE = "fa3/p1", "flashinfer/p1", "wave/p1"
TIMES = {"fa3": (500.0, 100.0), "flashinfer": (520.0, 50.0), "wave": (900.0, 900.0)}  # us a call in prefill and decode
QUIET = SessionNoise(0.003, 30)
IMPORTS = (("torch", "torch"), ("fa3", "sgl-kernel"), ("flashinfer", "flashinfer-python"), ("wave", "wave"))
UPGRADE = Change("flashinfer-python", "0.6.14 (0)", "0.6.15 (1)", (FLASHINFER,))


def installed(**versions: str) -> tuple[Distribution, ...]:
    """All of version 1, but for ``versions`` by name, "_" for "-"."""
    names = {name: versions.get(name.replace("-", "_"), "1") for _, name in IMPORTS}
    return tuple(Distribution(name, version, f"{name}:{version}") for name, version in names.items())


def measured(times: Mapping[str, tuple[float, float]] = TIMES, **changes: Any) -> Run:
    """``changes`` as for `tests.tuner.building.Recipe`."""
    run = one_cell_each(times, **changes)
    return replace(run, environment=replace(run.environment, distributions=installed(), imports=IMPORTS))


def then(times: Mapping[str, tuple[float, float]] = TIMES, **changes: Any) -> Run:
    run = measured(times, **changes)
    return replace(run, decision=decide(run))


def times(**factors: float) -> dict[str, tuple[float, float]]:
    """`TIMES` with an arm's decode so much longer."""
    return {name: (prefill, decode * factors.get(name, 1.0)) for name, (prefill, decode) in TIMES.items()}


def here(**versions: str) -> Environment:
    return replace(measured().environment, distributions=installed(**versions))


def rests(run: Run, *changes: Change, **versions: str) -> Resting:
    return resting(run, here(**(versions or {"flashinfer_python": "2"})), changes or (UPGRADE,))


def screen(new: Run, old: Run | None = None, noise: SessionNoise = QUIET) -> Screen:
    before = old or then()
    return Screen(before, new, rests(before), noise)


def launching(run: Run, **codes: int) -> Run:
    """With one launch a call whose code is told, 0 unless ``codes`` has another number for its backend."""

    def told(trial: Trial) -> Trial:
        backend = trial.arm.partition("/")[0]
        assert trial.identity is not None
        nodes = (KernelNode(f"{backend}_kernel", (1, 1, 1), (128, 1, 1), 0, (codes.get(backend, 0),)),)
        return replace(trial, identity=replace(trial.identity, nodes=nodes))

    return replace(run, trials=tuple(map(told, run.trials)))

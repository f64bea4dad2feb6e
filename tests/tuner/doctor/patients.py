"""Environments that nothing is wrong with, until a test says so."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from backends.condition import Installed, Management, ServingCondition, Toolkit
from backends.environment import Board, Environment
from store.serving.diagnosis import Finding
from tuner.doctor.examine import findings
from tuner.doctor.known import Known, load_known
from tuner.doctor.patient import Patient

SITE = "/venv/site-packages"
GPU = "NVIDIA H200"
ALLOWED = ("memory in use", "utilization", "power limit", "power", "SM clock", "temperature", "clock event reasons")


@cache
def known() -> Known:
    return load_known()


def installed(**versions: str) -> tuple[Installed, ...]:
    """Distributions in one folder; "_" in a keyword is "-" in the name."""
    return tuple(Installed(name.replace("_", "-"), version, SITE) for name, version in versions.items())


def environment(torch: str | None = "2.14.1+cu130", cuda: str | None = "13.0", sm: int | None = 90, **changes: Any) -> Environment:
    kind = "cuda" if cuda else "cpu"
    board = Board(kind, GPU, sm, "GPU-1", 150754820096, 700.0, None, "580.95.05")
    return replace(Environment(board, "3.12.3", torch, cuda, None, (), (), None, ()), **changes)


def condition(*packages: Installed, **changes: Any) -> ServingCondition:
    """Of a GPU host with a whole toolkit of CUDA 13.0 and the SGLang that ``packages`` bring or not."""
    healthy = ServingCondition(
        installed=packages,
        provided=(),
        overwritten=(),
        fa4_copies=(),
        linked=(),
        toolkit=Toolkit("/usr/local/cuda", "13.0", True),
        tools=("c++", "ninja"),
        locks=(),
        management=Management(None, 1, tuple((name, True) for name in ALLOWED)),
        gpus=(GPU,),
        driver_cuda="13.0",
        variables=(),
    )
    return replace(healthy, **changes)


def patient(*packages: Installed, on: Environment | None = None, in_use: Any = None, **changes: Any) -> Patient:
    engine = () if any(each.name == "sglang" for each in packages) else installed(sglang="0.5.22")
    return Patient(on or environment(), condition(*engine, *packages, **changes), in_use, "sglang")


def found(sick: Patient) -> dict[str, Finding]:
    """Findings by rule, where each rule finds one thing at most."""
    listed = findings(sick, known())
    by_rule = {finding.rule: finding for finding in listed}
    assert len(by_rule) == len(listed), [finding.what for finding in listed]
    return by_rule


def only(sick: Patient) -> Finding:
    [finding] = findings(sick, known())
    return finding

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from backends.condition import Installed, Management, ServingCondition, Toolkit
from backends.environment import Board, Environment
from backends.wire import from_plain
from reports.doctor import render_json, render_text
from store.serving.diagnosis import Diagnosis, Finding, Severity
from tests.tuner.doctor.patients import condition

BOARD = Board("cuda", "NVIDIA H200", 90, "GPU-1", 150754820096, 700.0, None, "580.95.05")
ENVIRONMENT = Environment(BOARD, "3.12.3", "2.14.1+cu130", "13.0", "3.7.1", (), (), None, ())
CONDITION = condition(
    *(Installed("torch", "2.14.1+cu130", "/venv"), Installed("sglang", "0.5.22", "/a"), Installed("sglang", "0.5.16", "/b")),
    management=Management(None, 1, (("memory in use", True), ("power", False), ("temperature", True))),
)
WARNING = Finding("second-copy", Severity.WARNING, "x is imported\nfrom /opt/a", "why it matters", "remove one", "PEP 420")
NOTE = Finding("no-engine", Severity.NOTE, "no engine", "so what", "nothing")
FAULT = Finding("no-torch", Severity.FAULT, "no torch", "nothing runs", "install it")


def diagnosis(*findings: Finding, environment: Environment = ENVIRONMENT, **changes: object) -> Diagnosis:
    return Diagnosis(environment, replace(CONDITION, **changes), None, findings, 0)


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        ((), "nothing to mend"),
        ((NOTE, NOTE), "nothing to mend (2 notes)"),
        ((WARNING, NOTE), "1 warning, 1 note: what is measured here is open to doubt"),
        ((FAULT, WARNING, WARNING), "1 fault, 2 warnings: mend the faults before measuring"),
    ],
)
def test_the_first_line_says_how_it_stands(findings: tuple[Finding, ...], line: str) -> None:
    assert render_text(diagnosis(*findings)).splitlines()[0] == line


def test_the_machine_is_described_in_five_lines() -> None:
    assert render_text(diagnosis()).split("\n\n")[1].splitlines() == [
        "Machine",
        "  NVIDIA H200, 140 GiB",
        "  driver 580.95.05, serves CUDA up to 13.0",
        "  Python 3.12.3, torch 2.14.1+cu130 (CUDA 13.0)",
        "  nvcc 13.0 in /usr/local/cuda",
        "  NVML: tells memory in use, temperature",
    ]


def test_what_is_not_there_is_said_to_be_so() -> None:
    board = Board("cpu", "A processor", None, None, None, None, None, None)
    bare = replace(ENVIRONMENT, board=board, torch=None, cuda=None)
    empty = Management("libnvidia-ml.so.1 is not there")
    text = render_text(diagnosis(environment=bare, installed=(), toolkit=None, management=empty, driver_cuda=None))
    assert text.split("\n\n")[1].splitlines()[1:] == [
        "  A processor",
        "  Python 3.12.3, no torch",
        "  no CUDA toolkit",
        "  NVML: libnvidia-ml.so.1 is not there",
    ]
    assert text.endswith("Kernel distributions on the worker's path\n  none\n")


def test_a_slice_and_hidden_gpus_and_an_nvcc_that_does_not_run_are_told() -> None:
    sliced = replace(ENVIRONMENT, board=replace(BOARD, mig="3g.71gb", driver=None))
    text = render_text(diagnosis(environment=sliced, management=Management(None, 2), toolkit=Toolkit("/cuda", None, True)))
    assert "NVIDIA H200, MIG slice 3g.71gb, 140 GiB" in text
    assert "driver unknown, serves CUDA up to 13.0" in text and "nvcc unknown in /cuda" in text
    assert "NVML: tells nothing of a GPU this process may use" in text


def test_distributions_are_listed_by_name_with_hidden_copies_marked() -> None:
    assert render_text(diagnosis()).split("\n\n")[2].splitlines()[1:] == [
        "  name    version",
        "  sglang  0.5.22",
        "  sglang  0.5.16        hidden by the one above",
        "  torch   2.14.1+cu130",
    ]


def test_a_finding_says_what_why_and_what_to_do_with_folders_as_they_are() -> None:
    *_, warning, note = render_text(diagnosis(WARNING, NOTE)).rstrip("\n").split("\n\n")
    assert warning == "warning: x is imported from /opt/a\n  why: why it matters\n  do: remove one\n  source: PEP 420"
    assert note == "note: no engine\n  why: so what\n  do: nothing"


def test_the_data_are_the_records_own_fields() -> None:
    data = json.loads(render_json(diagnosis(WARNING)))
    assert from_plain(ServingCondition, data["condition"]) == CONDITION and from_plain(Environment, data["environment"]) == ENVIRONMENT
    assert from_plain(tuple[Finding, ...], data["findings"]) == (WARNING,)
    assert (data["in_use"], data["exit_code"]) == (None, 0)

from __future__ import annotations

from backends.condition import Provided
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import condition, environment, found, only, patient
from tuner.doctor.patient import Patient


def test_a_python_without_torch_is_a_fault_and_the_only_one() -> None:
    finding = only(patient(on=environment(None, None), toolkit=None))
    assert (finding.rule, finding.severity) == ("no-torch", Severity.FAULT)
    assert finding.what == "the worker's Python 3.12.3 has no torch" and "engine.command" in finding.remedy


def test_an_engine_that_is_not_there_is_a_note() -> None:
    finding = only(Patient(environment(), condition(), None, "vllm"))
    assert (finding.severity, finding.what) == (Severity.NOTE, "vllm is not on the worker's path")


def test_an_engine_run_from_its_sources_is_there() -> None:
    assert found(Patient(environment(), condition(provided=(Provided("sglang", ("/src/sglang/python",)),)), None, "sglang")) == {}

"""Every public report in cases.yaml: what was installed there, and what the doctor says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from backends.condition import Installed, LeftLock, ServingCondition, Toolkit
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import SITE, condition, environment, installed, known
from tuner.doctor.examine import exit_code, findings
from tuner.doctor.known import Known, TorchBuild
from tuner.doctor.patient import Patient

CASES = YAML(typ="safe").load((Path(__file__).parent / "cases.yaml").read_text())


def patient_of(given: dict[str, Any]) -> Patient:
    libraries = dict(given.get("libraries", {}))
    cuda = given.get("torch-cuda", "13.0")
    torch = libraries.pop("torch", f"2.14.1+cu{cuda.replace('.', '')}")
    where = environment(torch, cuda, given.get("sm", 90))
    return Patient(where, condition_of(given, libraries), None, "sglang")


def condition_of(given: dict[str, Any], libraries: dict[str, str]) -> ServingCondition:
    packages = tuple(Installed(name, version, SITE) for name, version in libraries.items())
    nvcc = given.get("nvcc", "13.0")
    return condition(
        *installed(sglang="0.5.22"),
        *packages,
        toolkit=Toolkit("/usr/local/cuda", nvcc, True) if nvcc else None,
        locks=(LeftLock("/root/.cache/flashinfer/0.2.1/lock", given["lock_age_s"]),) if "lock_age_s" in given else (),
        variables=tuple(given.get("env", {}).items()),
    )


def knowing(given: dict[str, Any]) -> Known:
    builds = (TorchBuild(name, "", f"=={torch}.*", "the report") for name, torch in given.get("built_for", {}).items())
    return replace(known(), torch_builds=(*builds, *known().torch_builds))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_public_report_is_recognised(case: dict[str, Any]) -> None:
    found = findings(patient_of(case["given"]), knowing(case["given"]))
    expect = case["expect"]
    if expect.get("none"):
        assert found == ()
        return
    assert set(expect["rules"]) <= {finding.rule for finding in found}
    assert any(finding.severity is Severity.FAULT for finding in found) == expect["fault"]
    said = " ".join(f"{finding.what} {finding.why} {finding.remedy} {finding.source}" for finding in found)
    assert [text for text in expect.get("mentions", ()) if text.lower() not in said.lower()] == []
    assert [text for text in expect.get("avoids", ()) if text.lower() in said.lower()] == []
    remedies = " ".join(finding.remedy for finding in found)
    assert [text for text in expect.get("offers", ()) if text not in remedies] == []


@pytest.mark.parametrize("case", [case for case in CASES if case["expect"].get("fault")], ids=lambda case: case["id"])
def test_what_must_be_mended_first_ends_with_the_users_exit_code(case: dict[str, Any]) -> None:
    assert exit_code(findings(patient_of(case["given"]), knowing(case["given"]))) == 2

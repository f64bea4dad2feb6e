from __future__ import annotations

import pytest

from store.serving.diagnosis import Finding, Severity
from tests.tuner.doctor.patients import installed, known, patient
from tuner.doctor.examine import exit_code, findings, interest, spoilers


def finding(severity: Severity) -> Finding:
    return Finding("made-up", severity, "a", "b", "c")


@pytest.mark.parametrize(
    ("severities", "code"),
    [
        ((), 0),
        ((Severity.NOTE, Severity.NOTE), 0),
        ((Severity.NOTE, Severity.WARNING), 3),
        ((Severity.WARNING, Severity.FAULT, Severity.NOTE), 2),
    ],
)
def test_the_gravest_finding_decides_over_the_exit_code(severities: tuple[Severity, ...], code: int) -> None:
    assert exit_code(map(finding, severities)) == code


def test_findings_come_gravest_first() -> None:
    sick = patient(*installed(flashinfer_python="0.6.15", flashinfer_jit_cache="0.6.9+cu130"), driver_cuda="12.9")
    ranks = [list(Severity).index(each.severity) for each in findings(sick, known())]
    assert ranks == sorted(ranks) and set(ranks) == {0, 1, 2}


def test_a_worker_looks_for_every_known_distribution_and_import_once() -> None:
    asked = interest(known(), ("/opt/overlay",))
    assert {"sglang", "flashinfer-jit-cache-*"} <= set(asked.distributions)
    assert len(set(asked.imports)) == len(asked.imports) and "sgl_kernel" in asked.imports
    assert set(asked.compiled) < set(asked.distributions) and asked.path == ("/opt/overlay",)


def test_what_can_spoil_a_measurement_is_what_is_wrong_with_kernels_and_not_what_is_merely_worth_knowing() -> None:
    flashinfer = installed(flashinfer_python="0.6.15", flashinfer_jit_cache="0.6.9+cu130")
    sick = patient(*flashinfer, driver_cuda="12.9", in_use={"memory_bytes": 1})
    found = spoilers(sick, known())
    assert {each.rule for each in findings(sick, known())} > {each.rule for each in found} >= {"packages-do-not-match", "version-withdrawn"}
    assert all(each.severity is not Severity.NOTE and each.concerns for each in found)

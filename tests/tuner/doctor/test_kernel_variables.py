from __future__ import annotations

from store.serving.diagnosis import Finding, Severity
from tests.tuner.doctor.patients import environment, known, patient
from tuner.doctor.examine import findings


def told(**variables: str) -> list[Finding]:
    return list(findings(patient(on=environment(variables=tuple(sorted(variables.items())))), known()))


def test_a_kernel_swapped_under_the_same_name_is_a_warning() -> None:
    [finding] = told(SGLANG_USE_SGL_FA3_KERNEL="false")
    assert (finding.severity, finding.what) == (Severity.WARNING, "SGLANG_USE_SGL_FA3_KERNEL=false is set")
    assert "kernels-community/sgl-flash-attn3" in finding.why and finding.source == "sglang/srt/environ.py (0.5.22)"


def test_a_setting_that_is_part_of_the_key_is_a_note() -> None:
    [finding] = told(SGLANG_TRITON_DECODE_ATTN_STATIC_KV_SPLITS="1")
    assert finding.severity is Severity.NOTE and "largest number of splits" in finding.why


def test_variables_of_unknown_effect_are_listed_together() -> None:
    [finding] = told(TRITON_SOMETHING="1", CUBLAS_WORKSPACE_CONFIG=":4096:8")
    assert finding.what == "set here: CUBLAS_WORKSPACE_CONFIG=:4096:8, TRITON_SOMETHING=1"
    assert finding.severity is Severity.NOTE


def test_one_finding_a_variable_of_known_effect() -> None:
    rules = [finding.rule for finding in told(CUDA_LAUNCH_BLOCKING="1", SGLANG_FLASHINFER_USE_PAGED="1", TORCH_SOMETHING="2")]
    assert rules == ["variable-changes-kernels", "variable-changes-kernels", "variables-in-the-key"]

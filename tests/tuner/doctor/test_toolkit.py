from __future__ import annotations

import pytest

from backends.condition import Toolkit
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import environment, found, installed, only, patient

HOME = "/usr/local/cuda"


@pytest.mark.parametrize("nvcc", ["12.9", "13.1", "12.0"])
def test_a_toolkit_of_another_cuda_is_told_with_both_versions(nvcc: str) -> None:
    finding = only(patient(toolkit=Toolkit(HOME, nvcc, True)))
    assert finding.rule == "toolkit-differs-from-torch"
    assert finding.what == f"nvcc is {nvcc} ({HOME}), and torch was built for CUDA 13.0"


def test_a_toolkit_without_headers_is_told() -> None:
    finding = only(patient(toolkit=Toolkit("/usr/local", "13.0", False)))
    assert finding.what == "nvcc runs from /usr/local/bin, and /usr/local/include has no cuda_runtime.h"


@pytest.mark.parametrize(("tools", "missing"), [((), "c++ and ninja"), (("c++",), "ninja")])
def test_missing_build_tools_are_named(tools: tuple[str, ...], missing: str) -> None:
    assert only(patient(tools=tools)).what == f"{missing} cannot be found on PATH"


@pytest.mark.parametrize("toolkit", [None, Toolkit(HOME, None, False)])
def test_flashinfer_without_nvcc_and_without_prebuilt_kernels_is_doubtful(toolkit: Toolkit | None) -> None:
    finding = only(patient(*installed(flashinfer_python="0.7.1"), toolkit=toolkit))
    assert (finding.rule, finding.severity) == ("no-nvcc", Severity.WARNING)
    assert "flashinfer-jit-cache is not installed" in finding.what and finding.remedy.endswith("or flashinfer-jit-cache")


def test_prebuilt_kernels_make_a_missing_nvcc_a_note() -> None:
    sick = patient(*installed(flashinfer_python="0.7.1", flashinfer_jit_cache="0.7.1+cu130"), toolkit=None)
    assert (only(sick).severity, "none of head dim 512" in only(sick).what) == (Severity.NOTE, True)


def test_who_compiles_nothing_needs_no_nvcc() -> None:
    assert found(patient(toolkit=None)) == {}
    assert found(patient(on=environment("2.14.1+cpu", None), gpus=(), toolkit=Toolkit(HOME, "12.9", False), tools=())) == {}

from __future__ import annotations

import pytest

from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import environment, found, installed, known, only, patient
from tuner.doctor.examine import findings
from tuner.doctor.flashinfer_packages import CHECK_OFF


@pytest.mark.parametrize("cubin", ["0.7.1", None])
def test_packages_of_one_release_and_one_cuda_fit(cubin: str | None) -> None:
    others = {} if cubin is None else {"flashinfer_cubin": cubin}
    sick = patient(*installed(flashinfer_python="0.7.1", flashinfer_jit_cache="0.7.1+cu130", **others))
    assert set(found(sick)) == {"prebuilt-incomplete"}


def test_without_its_core_the_other_packages_do_not_matter() -> None:
    assert set(found(patient(*installed(flashinfer_cubin="0.6.8", flashinfer_jit_cache="0.6.9+cu129")))) == {"prebuilt-incomplete"}


def test_flashinfer_from_its_sources_fits_any_package() -> None:
    assert found(patient(*installed(flashinfer_python="0.0.0+unknown", flashinfer_cubin="0.6.8"))) == {}


def test_a_beginning_that_is_alike_does_not_pass_for_the_same_release() -> None:
    finding = found(patient(*installed(flashinfer_python="0.6.1", flashinfer_jit_cache="0.6.14+cu130")))["packages-do-not-match"]
    assert finding.severity is Severity.FAULT
    assert "compares beginnings and does not notice" in finding.why
    assert "flashinfer-jit-cache==0.6.1 --index-url https://flashinfer.ai/whl/cu130" in finding.remedy


def test_every_part_that_does_not_fit_is_named() -> None:
    parts = {"flashinfer-cubin": "0.6.16", "flashinfer-jit-cache": "0.7.1+cu130", "flashinfer-jit-cache-sm90a": "0.7.0+cu130"}
    sick = patient(*installed(flashinfer_python="0.7.1", **{name.replace("-", "_"): version for name, version in parts.items()}))
    wrong = [finding.what for finding in findings(sick, known()) if finding.rule == "packages-do-not-match"]
    assert wrong == [
        "flashinfer-python is 0.7.1 and flashinfer-cubin is 0.6.16",
        "flashinfer-python is 0.7.1 and flashinfer-jit-cache-sm90a is 0.7.0+cu130",
    ]


def test_cubins_that_pypi_does_not_have_come_from_flashinfers_index() -> None:
    finding = only(patient(*installed(flashinfer_python="0.7.1", flashinfer_cubin="0.6.13")))
    assert "flashinfer-cubin==0.7.1 --index-url https://flashinfer.ai/whl)" in finding.remedy
    assert "downloads what it needs" in finding.remedy


def test_kernels_built_for_another_cuda_are_doubtful() -> None:
    finding = found(patient(*installed(flashinfer_python="0.7.1", flashinfer_jit_cache="0.7.1+cu129")))["prebuilt-for-another-cuda"]
    assert finding.severity is Severity.WARNING
    assert finding.what == "flashinfer-jit-cache 0.7.1+cu129 was built for CUDA 12.9, and torch for CUDA 13.0"
    assert "/cu130" in finding.remedy


def test_a_switched_off_check_is_told_even_where_all_fits() -> None:
    finding = only(patient(*installed(flashinfer_python="0.7.1"), variables=((CHECK_OFF, "1"),)))
    assert (finding.rule, finding.severity, finding.what) == ("version-check-disabled", Severity.WARNING, f"{CHECK_OFF}=1 is set")


def test_an_empty_switch_leaves_the_check_on() -> None:
    assert found(patient(*installed(flashinfer_python="0.7.1"), variables=((CHECK_OFF, ""),))) == {}


def test_without_the_cuda_of_torch_the_index_is_left_to_fill_in() -> None:
    sick = patient(*installed(flashinfer_python="0.7.1", flashinfer_jit_cache="0.6.9+cu130"), on=environment("2.14.1+cpu", None), gpus=())
    assert "/cuXYZ" in found(sick)["packages-do-not-match"].remedy

from __future__ import annotations

import pytest

from backends.condition import Installed
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import SITE, found, installed, only, patient

PINS = ("flashinfer_python[cu13]==0.7.1", "sglang-kernel==0.4.9", "torch==2.14.1", "transformers==5.19.0", "flash-attn-4>=4.0.0b18")


def sglang(*requires: str) -> Installed:
    return Installed("sglang", "0.5.22", SITE, requires)


def test_what_an_engine_pins_and_does_not_find_is_told_in_one_finding() -> None:
    sick = patient(sglang(*PINS), *installed(flashinfer_python="0.6.14", sglang_kernel="0.4.9", torch="2.13.0+cu130", transformers="4"))
    finding = found(sick)["requirement-not-met"]
    assert finding.severity is Severity.WARNING
    assert finding.what == (
        "sglang 0.5.22 requires flashinfer-python==0.7.1 (0.6.14 is installed), torch==2.14.1 (2.13.0+cu130 is installed)"
    )


@pytest.mark.parametrize("kernel", ["4.0.0b36", "4.0.0"])
def test_local_tags_and_pre_releases_satisfy_a_pin(kernel: str) -> None:
    assert found(patient(sglang(*PINS), *installed(torch="2.14.1+cu130", flashinfer_python="0.7.1", flash_attn_4=kernel))) == {}


def test_what_is_not_installed_is_no_finding_of_this_rule() -> None:
    assert found(patient(sglang(*PINS))) == {}


@pytest.mark.parametrize(
    "requires",
    [
        'triton==3.6.0; extra == "all"',
        'triton==3.6.0; python_version < "3.10"',
        'triton==3.6.0; sys_platform == "win32"',
        "triton 3.6",
    ],
)
def test_requirements_of_other_surroundings_and_unreadable_ones_are_left_alone(requires: str) -> None:
    assert found(patient(sglang(requires), *installed(triton="3.7.1"))) == {}


def test_the_workers_python_decides_over_a_marker() -> None:
    finding = only(patient(sglang('triton==3.6.0; python_version >= "3.12"'), *installed(triton="3.7.1")))
    assert "triton==3.6.0 (3.7.1 is installed)" in finding.what

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.condition import Management
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import ALLOWED, GPU, environment, found, only, patient


def test_a_healthy_gpu_host_has_nothing_to_mend() -> None:
    assert found(patient()) == {}


def test_a_torch_without_cuda_beside_a_gpu_is_told() -> None:
    finding = only(patient(on=environment("2.13.0+cpu", None)))
    assert finding.what == f"torch 2.13.0+cpu cannot use the {GPU} that is here"


def test_a_processor_alone_is_enough_for_a_torch_without_cuda() -> None:
    nothing = Management("libnvidia-ml.so.1 is not there")
    assert found(patient(on=environment("2.13.0+cpu", None), gpus=(), driver_cuda=None, management=nothing)) == {}


@pytest.mark.parametrize(
    ("management", "said"),
    [
        (Management("Driver/library version mismatch"), "(NVML: Driver/library version mismatch)"),
        (Management(None, 8), "(NVML counts 8 in this machine)"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_told_with_what_nvml_says(management: Management, said: str) -> None:
    finding = only(patient(gpus=(), driver_cuda=None, management=management))
    assert (finding.rule, finding.severity) == ("no-gpu", Severity.WARNING) and finding.what.endswith(said)


def test_a_driver_of_an_older_major_version_is_a_fault() -> None:
    finding = only(patient(driver_cuda="12.9"))
    assert (finding.rule, finding.severity) == ("driver-too-old", Severity.FAULT)
    assert finding.what == "driver 580.95.05 serves CUDA 12.9 at most, and torch was built for CUDA 13.0"


def test_a_driver_of_an_older_minor_version_is_a_note() -> None:
    where = replace(environment(cuda="12.10"), torch="2.9.0+cu1210")
    finding = found(patient(on=where, driver_cuda="12.9"))["driver-older-than-torch"]
    assert finding.severity is Severity.NOTE and "PTX" in finding.why


@pytest.mark.parametrize("driver", ["13.0", "13.1", "14.0", None])
def test_a_driver_that_is_new_enough_or_unknown_is_not_told(driver: str | None) -> None:
    assert found(patient(driver_cuda=driver)) == {}


def test_readings_that_nvml_refuses_are_named() -> None:
    readings = tuple((name, name not in ("power", "temperature")) for name in ALLOWED)
    finding = only(patient(management=Management(None, 1, readings)))
    assert (finding.severity, finding.what) == (Severity.NOTE, "NVML does not tell power, temperature")


def test_an_nvml_that_does_not_start_beside_a_gpu_is_told() -> None:
    assert only(patient(management=Management("Insufficient Permissions"))).what == "NVML does not work here: Insufficient Permissions"


def test_a_gpu_that_others_use_is_told_with_how_much() -> None:
    finding = only(patient(in_use={"memory_bytes": 12 << 30, "utilization_percent": 40}))
    assert finding.what == "others hold 12.0 GiB of the GPU, busy 40 % of the time"
    assert only(patient(in_use={"memory_bytes": 12 << 30, "utilization_percent": None})).what == "others hold 12.0 GiB of the GPU"
    assert found(patient(in_use="not verifiable")) == {}


def test_gpus_that_are_not_alike_are_told_with_the_one_that_is_measured() -> None:
    finding = only(patient(gpus=("NVIDIA L4", GPU, "NVIDIA L4")))
    assert (finding.rule, finding.severity) == ("unlike-gpus", Severity.NOTE) and "the first, NVIDIA L4" in finding.why
    assert found(patient(gpus=(GPU, GPU))) == {}

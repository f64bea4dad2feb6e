from __future__ import annotations

from dataclasses import replace

import pytest

from backends import nvml
from backends.worker import board
from tests.backends.worker.fake_nvidia import GPU_UUID, SLICE, SLICE_UUID, Part, cuda_device, install

MIB = 1 << 20


def test_a_whole_gpu_has_no_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(GPU_UUID))
    found = board.here(("cuda",))
    assert (found.name, found.uuid, found.mig, found.sm_count) == ("NVIDIA H200", f"GPU-{GPU_UUID}", None, 132)
    assert found.memory_bytes == 143771 * MIB
    assert found.bandwidth_bytes_per_s == pytest.approx(4.814e12, rel=1e-3)


def test_a_slice_is_told_by_its_profile_and_has_its_own_memory_and_sms(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID, sm_count=60, name="NVIDIA H200 MIG 3g.71gb"))
    found = board.here(("cuda",))
    assert (found.name, found.mig, found.uuid) == ("NVIDIA H200", "3g.71gb", f"MIG-{SLICE_UUID}")
    assert (found.memory_bytes, found.sm_count) == (71424 * MIB, 60)


def test_what_only_the_whole_gpu_has_is_the_whole_gpus_and_a_share_of_bandwidth_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID, sm_count=60))
    found = board.here(("cuda",))
    assert (found.power_limit_w, found.max_sm_clock_mhz) == (700.0, 1980)
    assert found.bandwidth_bytes_per_s is None


@pytest.mark.parametrize(
    ("part", "profile"),
    [
        (replace(SLICE, name="NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"), "1c.3g.20gb"),
        (Part("NVIDIA H200", 18176, (16, 1, 1)), "1g.18gb"),
        (Part("NVIDIA H200", 71424, (16, 3, 1)), "1c.3g.70gb"),
        (Part("NVIDIA H200", 71424), "unnamed slice"),
    ],
)
def test_a_profile_is_read_from_the_name_or_made_of_the_sizes(monkeypatch: pytest.MonkeyPatch, part: Part, profile: str) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID, sm_count=16), part=part)
    assert board.here(("cuda",)).mig == profile


def test_cuda_names_a_slice_where_nvml_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID, sm_count=60, name="NVIDIA H200 MIG 3g.71gb"))
    monkeypatch.setattr(nvml, "initialised", lambda: None)
    found = board.here(("cuda",))
    assert (found.name, found.mig, found.bandwidth_bytes_per_s) == ("NVIDIA H200", "3g.71gb", None)
    assert found.memory_bytes == 150109880320  # what CUDA says


def test_the_gpu_behind_a_slice_is_what_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID))
    whole = board.first_gpu()
    assert whole is not None and whole.name() == "NVIDIA H200"

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import pytest

from backends import cuda_driver, nvml
from backends.worker import board, occupancy


def test_a_processor_is_named_with_its_memory() -> None:
    found = board.here(())
    assert found.kind == "cpu" and found.name
    assert found.memory_bytes is not None and found.memory_bytes > 1 << 28
    assert (found.sm, found.uuid, found.driver, found.power_limit_w) == (None, None, None, None)


def test_whether_others_use_a_processor_is_not_verifiable() -> None:
    assert occupancy.busy(board.here(())) == "not verifiable"


def test_without_a_driver_every_reading_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "initialised", lambda: None)
    assert nvml.driver_version() is None
    assert nvml.device_by_uuid("GPU-0") is None


def test_a_driver_that_refuses_every_call_gives_none_and_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def __getattr__(self, name: str) -> object:
            return lambda *arguments: 3  # NVML_ERROR_NOT_SUPPORTED

    monkeypatch.setattr(nvml, "initialised", Refusing)
    device = nvml.Device(ctypes.c_void_p())
    plain = [name for name in vars(nvml.Device) if not name.startswith("_") and name not in ("whole", "ecc_errors")]
    readings = [*(getattr(device, name)() for name in plain), device.ecc_errors(nvml.UNCORRECTED)]
    assert len(readings) > 11 and set(readings) == {None}
    assert device.whole() is device


@pytest.mark.gpu
def test_a_gpu_is_described_without_taking_its_memory() -> None:
    found = board.here(("cuda",))
    assert found.kind == "cuda" and found.uuid is not None and found.driver is not None
    assert found.sm_count is not None and found.l2_bytes is not None and found.smem_per_block_bytes is not None
    handle = nvml.device_by_uuid(found.uuid)
    assert handle is not None
    before = handle.memory()
    assert cuda_driver.first_device() is not None
    assert before == handle.memory()


@pytest.mark.gpu
def test_a_gpu_agrees_with_torch() -> None:
    import torch

    found = board.here(("cuda",))
    properties: Any = torch.cuda.get_device_properties(0)
    assert found.sm == properties.major * 10 + properties.minor
    assert found.sm_count == properties.multi_processor_count
    assert found.l2_bytes == properties.L2_cache_size
    assert found.uuid == f"GPU-{properties.uuid}"
    assert found.smem_per_block_bytes == properties.shared_memory_per_block_optin


OCCUPY = "import sys, torch; x = torch.empty(2**30, dtype=torch.uint8, device='cuda'); print(flush=True); sys.stdin.read()"


@pytest.mark.gpu
def test_a_gpu_that_others_use_is_busy() -> None:
    idle = board.here(("cuda",))
    if cuda_driver.context_is_open():
        pytest.skip("an earlier test of this process holds the GPU; run this file by itself")
    assert occupancy.busy(idle) is None
    with subprocess.Popen([sys.executable, "-c", OCCUPY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdout.readline()
        busy = occupancy.busy(idle)
        other.stdin.close()
    assert isinstance(busy, dict) and busy["memory_bytes"] is not None and busy["memory_bytes"] > 2**30

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pynvml
import pytest

from backends import cuda_driver, nvml
from backends.worker import board
from backends.worker.accelerators import CARDS
from tests.backends.worker.fake_nvidia import GPU_UUID, SLICE_UUID, cuda_device, install
from tuner.composing.boards import completed, reported
from tuner.composing.detect import machine_gpu
from tuner.settings import gpu_sheets

ROOT = Path(__file__).parents[3]


def test_the_first_visible_gpu_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(GPU_UUID))
    gpu = machine_gpu({})
    assert (gpu.name, gpu.sm, gpu.memory_bytes, gpu.cuda) == ("NVIDIA H200", 90, 150754820096, "13.0")
    assert gpu.bandwidth_bytes_per_s == pytest.approx(4.814e12, rel=1e-3)
    assert gpu.source == "the CUDA driver and NVML"


def test_a_known_gpu_takes_the_rest_from_its_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(GPU_UUID))
    assert completed(machine_gpu({}), gpu_sheets()).peak_flops == 989e12


def test_an_unknown_gpu_keeps_what_no_driver_tells_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device("33333333-0000-0000-0000-000000000000", name="NVIDIA X1"))
    gpu = completed(machine_gpu({}), gpu_sheets())
    assert (gpu.name, gpu.sm, gpu.peak_flops, gpu.peak_flops_fp8) == ("NVIDIA X1", 90, None, None)
    assert gpu.bandwidth_bytes_per_s is not None and gpu.memory_bytes == 150109880320  # the CUDA driver's, without NVML's


def test_a_slice_takes_nothing_from_the_whole_gpus_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(SLICE_UUID, sm_count=60))
    gpu = completed(machine_gpu({}), gpu_sheets())
    assert (gpu.name, gpu.sm_count, gpu.memory_bytes) == ("NVIDIA H200 MIG 3g.71gb", 60, 71424 << 20)
    assert gpu.peak_flops is None and gpu.bandwidth_bytes_per_s is None


def test_unlike_gpus_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(GPU_UUID), cuda_device(GPU_UUID, name="NVIDIA L4"))
    gpu = machine_gpu({})
    assert gpu.name == "NVIDIA H200"
    assert gpu.source.endswith("the first of NVIDIA H200, NVIDIA L4: choose another with CUDA_VISIBLE_DEVICES")


class ShowingNvml:
    """NVML as pynvml gives it, with GPUs of these names."""

    NVMLError = pynvml.NVMLError

    def __init__(self, *names: str) -> None:
        self.names = names
        self.open = False

    def nvmlInit(self) -> None:
        self.open = True

    def nvmlShutdown(self) -> None:
        self.open = False

    def nvmlDeviceGetCount(self) -> int:
        return len(self.names)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> str:
        return self.names[handle]


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"CUDA_VISIBLE_DEVICES": "7"}, "the machine, of whose NVIDIA GPUs (NVIDIA L4) CUDA_VISIBLE_DEVICES='7' shows none"),
        ({}, "the machine, whose NVIDIA GPUs (NVIDIA L4) the CUDA driver does not show: is libcuda.so.1 in this container?"),
    ],
)
def test_gpus_that_cuda_does_not_show_leave_the_processor_and_are_told_of(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], told: str
) -> None:
    install(monkeypatch)
    monkeypatch.setitem(sys.modules, "pynvml", shown := ShowingNvml("NVIDIA L4"))
    gpu = machine_gpu(environ)
    assert (gpu.kind, gpu.source, shown.open) == ("cpu", told, False)


def test_without_a_driver_the_processor_is_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "initialised", lambda: None)
    monkeypatch.setattr(cuda_driver, "visible_devices", cuda_driver.visible_devices.__wrapped__)  # past its memory
    monkeypatch.setattr(nvml, "initialised", lambda: None)
    assert (machine_gpu({}).kind, machine_gpu({}).source) == ("cpu", "the machine")


def test_every_card_known_by_its_pci_id_has_a_sheet() -> None:
    sheets = {(sheet.kind, sheet.name, sheet.arch) for sheet in gpu_sheets()}
    assert set(CARDS.values()) <= sheets


def test_a_card_takes_its_memory_from_its_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    card = board.Board("xpu", "Intel(R) Data Center GPU Max 1550", None, None, None, None, None, None, arch="xe-hpc")
    assert completed(reported(card, "the machine"), gpu_sheets()).memory_bytes == 64 << 30


@pytest.mark.gpu
@pytest.mark.parametrize("form", ["0", "{uuid}", "{uuid:.12}"])
def test_the_driver_understands_every_form_of_cuda_visible_devices(form: str) -> None:
    uuid = board.here(("cuda",)).uuid
    script = "from backends.worker.board import here; print(here(('cuda',)).uuid)"
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": form.format(uuid=uuid)}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env=environ)
    assert done.stdout.strip() == uuid

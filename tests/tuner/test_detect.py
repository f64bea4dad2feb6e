from __future__ import annotations

import pynvml
import pytest

from tuner import detect

CPUINFO = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8481C\nflags\t\t: fpu avx512f amx_bf16 amx_tile\n\nprocessor\t: 1\n"


def test_the_cpu_is_named_and_its_amx_seen(tmp_path):
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    gpu = detect.cpu(tmp_path / "cpuinfo")
    assert (gpu.kind, gpu.name, gpu.amx) == ("cpu", "Intel(R) Xeon(R) Platinum 8481C", True)
    assert gpu.memory_bytes is not None and gpu.memory_bytes > 2**20


def test_a_cpu_that_says_nothing_of_itself_still_has_a_name(tmp_path):
    gpu = detect.cpu(tmp_path / "missing")
    assert gpu.name and not gpu.amx


class Nvml:
    """NVML with one H200 at index 1; NVMLError as the real module has it."""

    NVMLError = pynvml.NVMLError
    NVML_CLOCK_MEM = 2

    class Memory:
        total = 150754820096

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:
        if index != 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return "handle"

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        assert uuid == "GPU-77"
        return "handle"

    def nvmlDeviceGetName(self, _: str) -> str:
        return "NVIDIA H200"

    def nvmlDeviceGetCudaComputeCapability(self, _: str) -> tuple[int, int]:
        return 9, 0

    def nvmlDeviceGetMemoryInfo(self, _: str) -> Memory:
        return self.Memory()

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return 13010

    def nvmlDeviceGetMaxClockInfo(self, _: str, kind: int) -> int:
        return 3201

    def nvmlDeviceGetMemoryBusWidth(self, _: str) -> int:
        return 6144


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> type[Nvml]:
    for name in [name for name in dir(Nvml) if name.startswith("nvml")]:
        monkeypatch.setattr(pynvml, name, getattr(Nvml(), name))
    return Nvml


@pytest.mark.parametrize("visible", ["1", "1,0", "GPU-77"])
def test_the_first_visible_gpu_is_read(nvml, visible):
    gpu = detect.nvidia_gpu(visible)
    assert gpu is not None
    assert (gpu.name, gpu.sm, gpu.memory_bytes, gpu.cuda) == ("NVIDIA H200", 90, 150754820096, "13.1")
    assert gpu.bandwidth_bytes_per_s == pytest.approx(4.917e12, rel=1e-3)


def test_what_a_board_does_not_tell_stays_unknown(nvml, monkeypatch):
    def not_supported(*_: object) -> int:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMaxClockInfo", not_supported)
    gpu = detect.nvidia_gpu("1")
    assert gpu is not None and gpu.bandwidth_bytes_per_s is None and gpu.sm == 90


@pytest.mark.parametrize("visible", ["-1", "7"])
def test_a_hidden_or_missing_gpu_leaves_the_cpu(nvml, visible, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert detect.machine_gpu().kind == "cpu"


def test_without_a_driver_the_cpu_is_what_there_is(monkeypatch):
    def no_library() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", no_library)
    assert detect.machine_gpu().kind == "cpu"

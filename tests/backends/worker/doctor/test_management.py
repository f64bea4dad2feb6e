from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends import nvml
from backends.condition import Management
from backends.worker.doctor import management
from tests.backends.worker import fake_nvidia


def test_without_a_driver_the_library_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "initialised", lambda: None)
    monkeypatch.setattr("ctypes.CDLL", _missing)
    assert management.asked() == Management("libnvidia-ml.so.1 is not there")


def _missing(name: str) -> None:
    raise OSError(f"{name}: cannot open shared object file")


def test_a_library_that_refuses_says_why_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {18: b"Driver/library version mismatch"}
    monkeypatch.setattr(nvml, "initialised", lambda: None)
    monkeypatch.setattr("ctypes.CDLL", lambda name: SimpleNamespace(nvmlInit_v2=lambda: 18, nvmlErrorString=lambda code: words[code]))
    assert management.asked() == Management("Driver/library version mismatch")


def test_each_reading_is_told_to_be_allowed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake driver answers memory and the power limit of the whole GPU, and refuses the rest."""
    fake_nvidia.install(monkeypatch, fake_nvidia.cuda_device(fake_nvidia.GPU_UUID))
    asked = management.asked()
    assert (asked.refused, asked.gpus) == (None, 1)
    assert [name for name, allowed in asked.readings if allowed] == ["memory in use", "power limit"]
    assert [name for name, allowed in asked.readings if not allowed] == [
        *("utilization", "power", "SM clock", "temperature", "clock event reasons"),
    ]


def test_no_reading_is_claimed_of_gpus_that_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_nvidia.install(monkeypatch)
    assert management.asked() == Management(None, gpus=1)


@pytest.mark.gpu
def test_a_whole_gpu_tells_what_the_guards_need() -> None:
    asked = management.asked()
    assert asked.refused is None and asked.gpus >= 1
    assert dict(asked.readings)["memory in use"] and dict(asked.readings)["SM clock"]

"""Whether a board is free, with an NVML that tells part of it, as in containers and on MIG slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from backends import cuda_driver, nvml
from backends.environment import Board
from backends.worker import occupancy
from tests.backends.worker.fake_nvidia import cuda_device, install

NOT_SUPPORTED, NOT_FOUND = 3, 6
WHOLE = Board("cuda", "NVIDIA H200", 90, "GPU-1", 141 << 30, 700.0, None, "580.95.05")
SLICE = replace(WHOLE, uuid="MIG-2", mig="1g.18gb")


class InMode:
    """A GPU in one compute mode, and nothing else."""

    def __init__(self, mode: int | None) -> None:
        self._mode = mode

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        return 0

    def nvmlDeviceGetComputeMode(self, handle: Any, answer: Any) -> int:
        if self._mode is None:
            return NOT_SUPPORTED
        answer._obj.value = self._mode
        return 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *arguments: NOT_SUPPORTED


@pytest.mark.parametrize(("mode", "exclusive"), [(0, False), (1, True), (2, False), (3, True), (None, False)])
def test_a_gpu_in_an_exclusive_mode_lets_one_process_in(monkeypatch: pytest.MonkeyPatch, mode: int | None, exclusive: bool) -> None:
    monkeypatch.setattr(nvml, "initialised", lambda: InMode(mode))
    assert occupancy.exclusive(WHOLE) is exclusive and not occupancy.exclusive(replace(WHOLE, uuid=None))


class PartlyRefusing:
    """Knows two UUIDs; tells the memory in use or the load where it has them, and answers any other question with "not supported".

    What runs on the device, it never tells: asked for processes, it fails the test.
    """

    def __init__(self, used_bytes: int | None = None, percent: int | None = None) -> None:
        self._used_bytes, self._percent = used_bytes, percent

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:
        return 0 if uuid in (b"GPU-1", b"MIG-2") else NOT_FOUND

    def nvmlDeviceGetMemoryInfo_v2(self, handle: Any, answer: Any) -> int:
        if self._used_bytes is None:
            return NOT_SUPPORTED
        answer._obj.used, answer._obj.total = self._used_bytes, 141 << 30
        return 0

    def nvmlDeviceGetUtilizationRates(self, handle: Any, answer: Any) -> int:
        if self._percent is None:
            return NOT_SUPPORTED
        answer._obj.gpu = self._percent
        return 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        assert "Processes" not in name, "a container sees foreign process ids, or none"
        return lambda *arguments: NOT_SUPPORTED


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occupancy, "LOOK_S", 0.0)


@pytest.mark.parametrize("asked", [WHOLE, SLICE])
@pytest.mark.parametrize(
    ("told", "found"),
    [
        (PartlyRefusing(), "not verifiable"),
        (PartlyRefusing(percent=0), "not verifiable"),
        (PartlyRefusing(used_bytes=0), None),
        (PartlyRefusing(used_bytes=0, percent=99), {"memory_bytes": 0, "utilization_percent": 99}),
        (PartlyRefusing(used_bytes=2 << 30), {"memory_bytes": 2 << 30, "utilization_percent": None}),
        (PartlyRefusing(used_bytes=2 << 30, percent=0), {"memory_bytes": 2 << 30, "utilization_percent": 0}),
    ],
)
def test_it_is_judged_by_what_can_be_read_and_never_by_processes(
    asked: Board, told: PartlyRefusing, found: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvml, "initialised", lambda: told)
    assert occupancy.busy(asked) == found


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (PartlyRefusing(), None),
        (PartlyRefusing(used_bytes=occupancy.BUSY_BYTES - 1, percent=99), None),
        (PartlyRefusing(used_bytes=2 << 30), 2 << 30),
    ],
)
def test_between_two_of_our_processes_memory_alone_tells_of_others(
    told: PartlyRefusing, found: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, cuda_device("1"))
    monkeypatch.setattr(nvml, "initialised", lambda: told)
    assert occupancy.taken_bytes() == found
    monkeypatch.setattr(cuda_driver, "context_is_open", lambda: True)
    assert occupancy.taken_bytes() is None  # it may be our own


def test_a_board_that_nvml_does_not_know_is_not_verifiable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "initialised", PartlyRefusing)
    assert occupancy.busy(replace(WHOLE, uuid="GPU-3")) == occupancy.busy(replace(WHOLE, uuid=None)) == "not verifiable"

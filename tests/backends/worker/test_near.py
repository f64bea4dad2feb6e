from __future__ import annotations

import errno
import os

import pytest

from backends.worker import board, near
from tests.backends.worker.fake_nvidia import GPU_UUID, SLICE_UUID, cuda_device, install


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """What this process was told to keep to; it may use processors 0 to 3."""
    told: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, processors: told.append(set(processors)))
    return told


@pytest.mark.parametrize("uuid", [f"GPU-{GPU_UUID}", f"MIG-{SLICE_UUID}"])
def test_a_worker_keeps_to_the_processors_near_the_gpu_that_is_named(
    uuid: str, kept: list[set[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, cuda_device(GPU_UUID))
    monkeypatch.setenv(near.NEAR, uuid)
    near.keep_near()
    assert kept == [{0, 2}]


@pytest.mark.parametrize("uuid", [None, "GPU-nobody"])
def test_where_none_is_named_or_known_it_stays_where_it_is(uuid: str | None, kept: list[set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, cuda_device(GPU_UUID))
    monkeypatch.delenv(near.NEAR, raising=False)
    if uuid:
        monkeypatch.setenv(near.NEAR, uuid)
    near.keep_near()
    assert kept == []


def test_processors_that_it_may_not_use_are_no_place_to_keep_to(kept: list[set[int]]) -> None:
    near.keep_to(frozenset({7, 8}))
    near.keep_to(frozenset({3, 7}))
    assert kept == [{3}]


def test_where_it_may_not_choose_its_processors_it_says_so_and_goes_on(
    kept: list[set[int]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbidden(_: int, processors: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    near.keep_to(frozenset({0}))
    assert "not kept to the processors near its GPU: Operation not permitted" in capsys.readouterr().err


def test_all_visible_gpus_are_named_as_cuda_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "33333333-0000-0000-0000-000000000000"
    install(monkeypatch, cuda_device(GPU_UUID), cuda_device(other))
    assert board.visible() == (f"GPU-{GPU_UUID}", f"GPU-{other}")

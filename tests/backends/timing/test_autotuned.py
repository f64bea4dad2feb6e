from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import pytest

from backends.timing.autotuned import LENGTH, choices
from tests.backends.small import bench


class Autotuner:
    """As Triton's keeps what it chose."""

    def __init__(self, name: str, cache: object) -> None:
        self.base_fn = SimpleNamespace(__name__=name)
        self.cache = cache


def loaded(monkeypatch: pytest.MonkeyPatch, flashinfer: object) -> None:
    monkeypatch.setitem(sys.modules, "triton.runtime.autotuner", SimpleNamespace(Autotuner=Autotuner))  # type: ignore[arg-type]
    tuner = SimpleNamespace(_instance=flashinfer)
    monkeypatch.setitem(sys.modules, "flashinfer.autotuner", SimpleNamespace(AutoTuner=tuner))  # type: ignore[arg-type]


def test_what_libraries_chose_by_timing_is_told_with_its_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, SimpleNamespace(profiling_cache={("gemm", 64): "tactic 3"}))
    held = [Autotuner("_decode", {(4096, 8): "BLOCK: 64, num_warps: 4"}), Autotuner("_idle", {})]
    assert choices() == (("_decode (4096, 8)", "BLOCK: 64, num_warps: 4"), ("flashinfer ('gemm', 64)", "tactic 3"))
    assert len(held) == 2


def test_what_a_library_keeps_in_another_way_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, SimpleNamespace(profiling_cache=object()))
    held = Autotuner("_decode", None)
    assert choices() == () and held.cache is None


def test_long_words_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, None)
    held = Autotuner("_decode", {"x" * 500: "y" * 500})
    ((problem, choice),) = choices()
    assert len(problem) == len(choice) == LENGTH and held.cache


def test_libraries_that_were_not_loaded_chose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("triton.runtime.autotuner", "flashinfer.autotuner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert choices() == ()


def test_what_was_chosen_is_told_although_the_collector_no_longer_lists_the_tuner(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, None)
    held, used = Autotuner("_decode", {}), bench()
    try:
        used.keep()
        used.keep()
        held.cache = {(4096, 8): "BLOCK: 64"}
        assert used.autotuned() == (("_decode (4096, 8)", "BLOCK: 64"),)
    finally:
        gc.unfreeze()

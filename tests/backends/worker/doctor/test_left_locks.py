from __future__ import annotations

import os
import pathlib

import pytest

from backends.worker.doctor import left_locks

NOW_S = 1_800_000_000.0


def locked(file: pathlib.Path, age_s: float) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (NOW_S - age_s, NOW_S - age_s))
    return str(file)


def test_locks_are_found_wherever_a_library_puts_them_the_oldest_first(tmp_path: pathlib.Path) -> None:
    flashinfer = locked(tmp_path / "flashinfer/0.6.14/90a/cached_ops/batch_decode/lock", 100)
    extension = locked(tmp_path / "torch_extensions/py312_cu130/mine/lock", 5000)
    found = left_locks.below([tmp_path / "flashinfer", tmp_path / "torch_extensions", tmp_path / "gone"], NOW_S)
    assert [(lock.path, round(lock.age_s)) for lock in found] == [(extension, 5000), (flashinfer, 100)]


def test_lock_files_that_stay_are_no_locks(tmp_path: pathlib.Path) -> None:
    locked(tmp_path / "0.6.14/90a/cached_ops/tmp/batch_decode.lock", 5000)
    assert left_locks.below([tmp_path], NOW_S) == ()


def test_a_lock_file_that_tvm_ffi_keeps_holds_nobody_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("FLASHINFER_WORKSPACE_BASE", "TORCH_EXTENSIONS_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(tmp_path))
    locked(tmp_path / "sgl_kernel_jit_set_mla_kv_buffer__arch_9.0a/lock", 5000)
    assert left_locks.found() == ()


def test_the_caches_looked_at_are_those_this_process_would_use(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHINFER_WORKSPACE_BASE", str(tmp_path))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "none"))
    place = tmp_path / ".cache/flashinfer/0.2.1/lock"
    place.parent.mkdir(parents=True)
    place.touch()
    [lock] = left_locks.found()
    assert lock.path == str(place) and -1 < lock.age_s < 60

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from backends import device

CPU = torch.device("cpu")


def test_a_dtype_is_a_torch_name() -> None:
    assert device.dtype_of("float8_e4m3fn") is torch.float8_e4m3fn
    with pytest.raises(ValueError, match="'sum' names no torch dtype"):
        device.dtype_of("sum")


def test_the_last_level_cache_is_the_largest_linux_reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for level, size in enumerate(("48K", "1024K", "32768K")):
        (tmp_path / f"index{level}").write_text(size + "\n")
    monkeypatch.setattr(device.glob, "glob", lambda pattern: [str(path) for path in tmp_path.iterdir()])
    assert device.cache_bytes(CPU) == 32 << 20
    monkeypatch.setattr(device.glob, "glob", lambda pattern: [])
    assert device.cache_bytes(CPU) == device.CPU_CACHE_BYTES


def test_free_memory_stays_within_the_control_groups_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in (("CGROUP_LIMIT", "5000000"), ("CGROUP_USED", "3000000")):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(device, name, tmp_path / name)
    assert device.free_bytes(CPU) == 2_000_000
    (tmp_path / "CGROUP_LIMIT").write_text("max\n")
    assert device.free_bytes(CPU) > 1 << 20


def test_the_peak_of_a_process_holds_what_it_once_held() -> None:
    torch.ones(8 << 20)
    assert device.peak_bytes(CPU) > 32 << 20

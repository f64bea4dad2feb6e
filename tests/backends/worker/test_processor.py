from __future__ import annotations

import platform
from pathlib import Path

import pytest

from backends.worker.processor import free_memory_bytes, processor

X86 = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8481C\nflags\t\t: fpu avx512f amx_tile\n\nprocessor\t: 1\nflags\t: fpu\n"
ARM = "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n\nprocessor\t: 1\n"


def test_a_processor_is_named_and_its_amx_seen(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(X86)
    found = processor(tmp_path / "cpuinfo")
    assert (found.kind, found.name, found.amx) == ("cpu", "Intel(R) Xeon(R) Platinum 8481C", True)
    assert found.memory_bytes is not None and found.memory_bytes > 1 << 28


def test_an_arm_core_is_named_by_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    (tmp_path / "cpuinfo").write_text(ARM)
    found = processor(tmp_path / "cpuinfo")
    assert (found.name, found.arch, found.amx) == ("aarch64 CPU 0x41/0xd4f", "aarch64", False)


def test_a_processor_that_says_nothing_of_itself_still_has_a_name(tmp_path: Path) -> None:
    found = processor(tmp_path / "missing")
    assert found.name and found.arch and not found.amx


def test_free_memory_ends_at_the_containers_limit(tmp_path: Path) -> None:
    (meminfo := tmp_path / "meminfo").write_text("MemTotal:       8000000 kB\nMemAvailable:   4000000 kB\n")
    assert free_memory_bytes(meminfo, tmp_path) == 4_000_000 << 10
    (tmp_path / "memory.current").write_text("1000000000\n")
    for limit, free in (("max", 4_000_000 << 10), ("3000000000", 2_000_000_000)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        assert free_memory_bytes(meminfo, tmp_path) == free
    assert free_memory_bytes(tmp_path / "missing", tmp_path) is None

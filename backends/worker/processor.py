"""The host's processor as a board."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from backends.environment import Board

CPUINFO = Path("/proc/cpuinfo")
CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
ARM_PARTS = ("CPU implementer", "CPU part")


def processor(cpuinfo: Path = CPUINFO) -> Board:
    facts = _facts(cpuinfo)
    return Board(
        kind="cpu",
        name=facts.get("model name") or _arm_name(facts) or platform.processor() or platform.machine(),
        sm=None,
        uuid=None,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        power_limit_w=None,
        mig=None,
        driver=None,
        amx="amx_tile" in facts.get("flags", "").split(),
        arch=platform.machine() or None,
    )


def usable_cpus(limit: Path = CGROUP / "cpu.max") -> int:
    """Processors this process may keep busy: those it may run on, as far as the container's quota goes."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, limit.read_text().split())
    except (OSError, ValueError):  # no cgroup v2, or "max"
        return allowed
    return max(1, min(allowed, quota // period))


def free_memory_bytes(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Host memory that may still be used, as far as the container's limit goes; None where nobody tells."""
    try:
        kib = next(line for line in meminfo.read_text().splitlines() if line.startswith("MemAvailable:")).split()[1]
        free = int(kib) << 10
    except (OSError, StopIteration, ValueError):
        return None
    try:
        return min(free, int((cgroup / "memory.max").read_text()) - int((cgroup / "memory.current").read_text()))
    except (OSError, ValueError):  # no cgroup v2, or "max"
        return free


def _arm_name(facts: dict[str, str]) -> str | None:
    """An Arm kernel tells the core by numbers: "aarch64 CPU 0x41/0xd4f" (Neoverse V2)."""
    parts = [facts[part] for part in ARM_PARTS if part in facts]
    return f"{platform.machine()} CPU {'/'.join(parts)}" if parts else None


@cache
def _facts(cpuinfo: Path) -> dict[str, str]:
    """The first processor's entries."""
    try:
        first = cpuinfo.read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}

"""The key of what is measured on a simulated GPU: its board and the packages that are said to be there."""

from __future__ import annotations

import hashlib
import platform

from backends.environment import Distribution, Environment
from backends.simulated.world import Misfortune, Package, World

Busy = dict[str, "int | None"] | str | None

STRANGERS_BYTES, STRANGERS_LOAD = 40 << 30, 97


def environment(world: World) -> Environment:
    """All of it, whatever of it is asked for."""
    versions = {package.module: package.version for package in world.packages}
    return Environment(
        board=world.board,
        python=platform.python_version(),
        torch=versions.get("torch"),
        cuda=world.cuda,
        triton=versions.get("triton"),
        distributions=tuple(sorted(set(map(_distribution, world.packages)), key=lambda each: (each.name, each.version))),
        variables=(),
        image=None,
        imports=tuple((package.module, package.distribution) for package in world.packages),
    )


def busy(world: World) -> Busy:
    """As `backends.worker.occupancy.busy` tells it of a real one, at a process's first second."""
    from backends.worker.occupancy import NOT_VERIFIABLE

    if not world.telling:
        return NOT_VERIFIABLE
    stranger = any(fault.kind is Misfortune.FOREIGN_PROCESS and fault.after_s <= 0 for fault in world.faults)
    return {"memory_bytes": STRANGERS_BYTES, "utilization_percent": STRANGERS_LOAD} if stranger else None


def exclusive(world: World) -> bool:
    """As `backends.worker.occupancy.exclusive` tells it of a real one."""
    return any(fault.kind is Misfortune.EXCLUSIVE for fault in world.faults)


def _distribution(package: Package) -> Distribution:
    """Its digest stands for contents that nobody has."""
    text = f"simulated {package.distribution} {package.version}"
    return Distribution(package.distribution, package.version, hashlib.sha256(text.encode()).hexdigest())

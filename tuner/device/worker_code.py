"""What a worker runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tuner.settings import Settings
from tuner.workers.bundle import bundle, foreign_sources


def worker_code(settings: Settings) -> bytes:
    """`backends`, and the modules of drivers that lie elsewhere."""
    modules = [driver.driver.partition(":")[0] for entry in settings.entries for driver in entry.drivers]
    return _bundled(foreign_sources(modules, [settings.config_dir] if settings.config_dir else []))


@cache
def _bundled(extra: tuple[Path, ...]) -> bytes:
    """As it is when it is asked for first: all workers of a process run the same."""
    return bundle(extra)

"""What a worker runs."""

from __future__ import annotations

from tuner.settings import Settings
from tuner.workers.bundle import bundle, foreign_sources


def worker_code(settings: Settings) -> bytes:
    """`backends`, and the modules of drivers that lie elsewhere."""
    modules = [driver.driver.partition(":")[0] for entry in settings.entries for driver in entry.drivers]
    return bundle(foreign_sources(modules, [settings.config_dir] if settings.config_dir else []))

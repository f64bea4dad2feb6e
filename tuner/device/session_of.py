"""The session of a job that measures, as its settings have it."""

from __future__ import annotations

import hashlib

from backends.wire import to_plain
from store.digest import canonical
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.session import Session
from tuner.device.worker_code import worker_code
from tuner.progress import Progress
from tuner.settings import Settings


def session_of(settings: Settings, progress: Progress) -> Session:
    engine, ahead = settings.scenario.engine, settings.scenario.measure.import_ahead
    apart, claim = settings.executor.variables, claim_of(settings) if settings.world else None
    return Session(Host(engine, worker_code(settings), settings.world, apart, claim, settings.patience), progress, PhaseClock(), ahead)


def claim_of(settings: Settings) -> str:
    """What two commands have in common that would store the same of a device that is nobody's."""
    from store.database.connect import file_of  # here, since a check where nothing changed needs no database

    file = file_of(settings.store_url)
    asked = canonical([settings.store_url if file is None else str(file.resolve()), to_plain(settings.scenario)])
    return f"simulated-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"

"""The session of a job that measures, as its settings have it."""

from __future__ import annotations

from tuner.clock import PhaseClock
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings
from tuner.worker_code import worker_code


def session_of(settings: Settings, progress: Progress) -> Session:
    engine, ahead = settings.scenario.engine, settings.scenario.measure.import_ahead
    return Session(engine, progress, PhaseClock(), worker_code(settings), ahead, settings.world, settings.executor.variables)

"""The executor that the settings name."""

from __future__ import annotations

from tuner.clock import PhaseClock
from tuner.executors.executor import Executor
from tuner.executors.local import Local
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings


def executor_of(settings: Settings) -> Executor:
    """Raises `UsageError` where it cannot run here."""
    if settings.executor.kind == "slurm":
        from tuner.executors.slurm import Slurm

        return Slurm(settings.executor)
    if settings.executor.kind == "ray":
        from tuner.executors.ray_cluster import connected

        return connected(settings.executor, settings.store_url)
    return _local(settings)


def _local(settings: Settings) -> Local:
    """One GPU at a time, since nobody knows what a busy neighbour does to its host's others, unless the user says that it does nothing."""
    if settings.executor.exclusive_host or settings.world is not None:
        return Local()
    with Progress() as progress, Session(settings.scenario.engine, progress, PhaseClock()) as session:
        devices = session.devices()
        if len(devices) > 1:
            progress.note(f"{len(devices)} GPUs at once; executor.exclusive_host=true measures one at a time, without neighbours")
    return Local(devices)

"""The executor that the settings name."""

from __future__ import annotations

from store.database.connect import file_of, open_store
from tuner.calibrating.calibrated import neighbours_are_harmless
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.executors.executor import Executor
from tuner.executors.local import Local
from tuner.progress import Progress
from tuner.settings import Settings

RAY = "ray"


def executor_of(settings: Settings, again: bool = False) -> Executor:
    """``again``: nodes of a cluster that was there before may still be on their way. Raises `UsageError` where it cannot run here."""
    if settings.executor.kind == "slurm":
        from tuner.executors.slurm import Slurm

        return Slurm(settings.executor)
    if settings.executor.kind == RAY:
        from tuner.executors.ray_cluster import connected

        return connected(settings.executor, settings.store_url, again)
    return _local(settings)


def _local(settings: Settings) -> Local:
    """One GPU at a time, since nobody knows what a busy neighbour does to its host's others, unless a calibration has shown, or the user
    says, that it does nothing."""
    exclusive, file = settings.executor.exclusive_host, file_of(settings.store_url)
    if settings.world is not None or (exclusive and file is not None and not file.exists()):
        return Local()
    engine, patience = settings.scenario.engine, settings.patience
    with Progress() as progress, Keeper(Host(engine, patience=patience), progress, PhaseClock()) as keeper:
        devices = keeper.devices()
        if exclusive and not (len(devices) > 1 and _harmless(settings, keeper)):
            return Local()
        if len(devices) > 1:
            progress.note(f"{len(devices)} GPUs at once; executor.exclusive_host=true measures one at a time, without neighbours")
    return Local(devices)


def _harmless(settings: Settings, keeper: Keeper) -> bool:
    return neighbours_are_harmless(open_store(settings.store_url), keeper.facts(()).environment.board)

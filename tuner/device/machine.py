"""The request meets the machine: its board, the engine found there, and whether it is free."""

from __future__ import annotations

from dataclasses import replace

from backends.company import taken
from backends.environment import Board, Environment
from store.scenario import Scenario
from tuner.composing.boards import completed, on_board, reported
from tuner.composing.model_dtype import with_dtype
from tuner.device.keeper import Facts
from tuner.device.patience import in_use, refusal
from tuner.device.session import Session
from tuner.errors import MeasurementInvalid, UsageError
from tuner.limiting.drivers import imports_of
from tuner.settings import Settings, gpu_sheets


def meet(session: Session, settings: Settings) -> tuple[Settings, Environment]:
    """What is found there of all that the backends of ``settings`` import, and the settings as `settings_on` it."""
    named = settings.scenario.engine.name, "torch", "triton", *imports_of(settings.entries)
    environment = session.keeper.facts(named).environment
    return settings_on(settings, environment), environment


def settings_on(settings: Settings, environment: Environment) -> Settings:
    """The settings with the worker's board and CUDA, and the version of the engine found on its path (if any).

    Raises `UsageError` when another GPU was asked for or cannot be measured, or when the worker's Python has no torch.
    """
    if environment.torch is None:
        words = " ".join(settings.scenario.engine.command) or "[] (this Python)"
        raise UsageError(f"engine.command={words} has no torch; give the Python that serves the engine, or install torch there")
    scenario = settings.scenario
    gpu = on_board(None if settings.gpu_is_auto else scenario.gpu, environment.board, gpu_sheets())
    gpu = replace(gpu, cuda=environment.cuda or gpu.cuda)
    engine = replace(scenario.engine, version=engine_version(environment, scenario.engine.name) or scenario.engine.version)
    return _asking(settings, replace(scenario, gpu=gpu, engine=engine))


def seen_on(settings: Settings, environment: Environment) -> Settings:
    """The settings of a plan as far as a worker knows better: the engine's version, and its board where none was named."""
    scenario = settings.scenario
    gpu = scenario.gpu
    if settings.gpu_is_auto:
        gpu = completed(replace(reported(environment.board, "the worker's report"), cuda=environment.cuda), gpu_sheets())
    version = engine_version(environment, scenario.engine.name) or scenario.engine.version
    return _asking(settings, replace(scenario, gpu=gpu, engine=replace(scenario.engine, version=version)))


def _asking(settings: Settings, scenario: Scenario) -> Settings:
    return replace(settings, scenario=with_dtype(scenario) if settings.dtype_is_device_s else scenario)


def engine_version(environment: Environment, engine: str) -> str | None:
    """The version of the engine's distribution on the worker's path, None where it is not installed."""
    owner = dict(environment.imports).get(engine)
    return next((found.version for found in environment.distributions if found.name == owner), None)


def device_key(board: Board) -> str:
    """What the lock is named after: the GPU (or MIG slice), or the host's processor."""
    return board.uuid or board.kind


def cautions_of(facts: Facts) -> tuple[str, ...]:
    """Labels for all that is measured under ``facts``."""
    return (f"exclusivity {facts.busy}",) if isinstance(facts.busy, str) else ()


def refuse_busy(facts: Facts) -> None:
    """Raises `MeasurementInvalid` when others work on the device, whose numbers would be theirs too."""
    if others := used_by_others(facts):
        raise MeasurementInvalid(refusal(in_use(facts.environment.board.name, others)))


def used_by_others(facts: Facts) -> str | None:
    """What others have of the device, in words; None when it is free, or when nobody can tell."""
    if not isinstance(facts.busy, dict):
        return None
    return taken(facts.busy.get("memory_bytes") or 0, facts.busy.get("utilization_percent"))

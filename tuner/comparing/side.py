"""One of the two environments: its settings, its workers, and what was found there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backends.environment import Environment
from backends.worker.caches import APART
from store.plan import Plan
from tuner.clock import PhaseClock
from tuner.comparing.env import Env
from tuner.comparing.overlay import laid_over
from tuner.composing.simulation import with_packages
from tuner.device.host import Host
from tuner.device.machine import meet
from tuner.device.session import Session
from tuner.device.session_of import claim_of
from tuner.device.worker_code import worker_code
from tuner.executors.place import refuse_elsewhere
from tuner.plan import make_plan
from tuner.planning.consult import begin_engine, consult
from tuner.progress import Progress
from tuner.settings import Settings, compose

KEY_LENGTH = 12


@dataclass(frozen=True)
class Side:
    """``plan`` is what would be measured there by itself."""

    env: Env
    settings: Settings
    session: Session
    environment: Environment
    plan: Plan


@dataclass(frozen=True)
class Laid:
    """Settings with packages laid over what they name, and a sentence for each requirement of those that is not met."""

    settings: Settings
    unmet: tuple[str, ...] = ()


def settings_for(env: Env, overrides: Sequence[str], config_dir: str | None) -> Settings:
    """What the user asked for, as ``env`` has it. Its packages are `laid_over` later, by a worker."""
    settings = compose([*overrides, *env.overrides], config_dir)
    refuse_elsewhere(settings.executor)
    engine = settings.scenario.engine
    command = env.command or engine.command
    engine = replace(engine, command=command, path=(*env.folders, *engine.path))
    return replace(settings, scenario=replace(settings.scenario, engine=engine))


def beside(baseline: Settings, candidate: Settings) -> Settings:
    """``candidate`` on the board of ``baseline``, where both are simulated: it draws noise of its own, and may have other paces."""
    if baseline.world is None or candidate.world is None:
        return candidate
    return replace(candidate, world=replace(candidate.world, board=baseline.world.board, seed=candidate.world.seed + 1))


def session_for(env: Env, settings: Settings, progress: Progress) -> Session:
    """With kernel caches of its own: neither side may find what the other compiled."""
    scenario = settings.scenario
    asked = repr((env.packages, scenario.engine.command, scenario.engine.path))
    apart = {APART: hashlib.sha256(asked.encode()).hexdigest()[:KEY_LENGTH]}
    host = Host(scenario.engine, worker_code(settings), settings.world, apart, claim_of(settings), settings.patience)
    return Session(host, progress, PhaseClock(), scenario.measure.import_ahead)


def with_overlay(env: Env, settings: Settings, progress: Progress, wheels: str | None) -> Laid:
    """``settings`` with the folder of ``env``'s packages first on the path; a simulated GPU just has those versions."""
    if not env.packages:
        return Laid(settings)
    if settings.world is not None:
        return Laid(replace(settings, world=with_packages(settings.world, env.packages)))
    engine = settings.scenario.engine
    with session_for(env, settings, progress) as session:
        folder, unmet = laid_over(session, env.packages, wheels)
    for sentence in unmet:
        progress.note(sentence)
    return Laid(replace(settings, scenario=replace(settings.scenario, engine=replace(engine, path=(folder, *engine.path)))), unmet)


def side_of(env: Env, settings: Settings, session: Session) -> Side:
    """Looks around in an open ``session``."""
    settings, environment = meet(session, settings)
    begin_engine(session, settings, environment)
    releases = environment.releases
    plan = make_plan(settings, releases, consult(session.keeper, settings, environment, releases))
    return Side(env, settings, session, environment, plan)

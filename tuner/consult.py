"""The engine itself is asked, where it is installed: on its worker, in a process that only asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec

from backends.engine_says import EngineSays
from backends.environment import Environment
from store.scenario import Engine
from tuner.boards import is_here
from tuner.clock import PhaseClock
from tuner.doctor.diagnose import spoiled_by
from tuner.engines.heard import Consulted
from tuner.engines.lookup import question_of, rules_of
from tuner.errors import AttnpinError
from tuner.hf.files import read_files
from tuner.machine import engine_version, seen_on
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings

NOT_FOUND = EngineSays(failure="none was found where the worker runs")


def consulted_for_plan(settings: Settings) -> tuple[Settings, Consulted | None]:
    """What the engine says, and the settings with the release that said it; None where no worker would find one. A plan needs no
    worker: one that does not start leaves it to the rules, with the reason."""
    if settings.world is not None or not _may_be_there(settings.scenario.engine):
        return settings, None
    try:
        with Progress() as progress, Session(settings.scenario.engine, progress, PhaseClock()) as session:
            environment = session.facts((settings.scenario.engine.name,)).environment
            settings = seen_on(settings, environment)
            found = consult(session, settings, environment)
            if found is None:
                return settings, None
            return settings, replace(found, findings=spoiled_by(session, environment, settings.scenario.engine, settings.config_dir))
    except AttnpinError as error:
        return settings, Consulted(None, None, EngineSays(failure=str(error)))


def consult(session: Session, settings: Settings, environment: Environment, packages: Mapping[str, str] | None = None) -> Consulted | None:
    """``settings`` as they are on the worker of ``session``; None for an engine that attnpin cannot ask, and
    beside a simulated GPU, where none is. ``packages`` as for the plan."""
    scenario = settings.scenario
    question, version = question_of(scenario.engine.name), engine_version(environment, scenario.engine.name)
    if question is None or settings.world is not None:
        return None
    if version is None:
        return Consulted(None, None, NOT_FOUND)
    rules, _ = rules_of(scenario).rules_for(version)
    simulated = not is_here(scenario.gpu, environment.board)
    checkpoint = None if settings.checkpoint is None else read_files(settings.checkpoint).config
    (says,) = session.says(scenario.engine.name, [question(scenario, rules, packages, checkpoint, simulated)])
    return Consulted(version, scenario.gpu.name if simulated else None, says)


def _may_be_there(engine: Engine) -> bool:
    """Told without importing it: a plan on a machine without the engine starts nothing."""
    return question_of(engine.name) is not None and (bool(engine.command or engine.path) or find_spec(engine.name) is not None)

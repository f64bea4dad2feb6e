"""The engine itself is asked, where it is installed: on its worker, in a process that only asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from backends.arm import Arm, Provider
from backends.engine_says import EngineSays
from backends.environment import Environment
from store.scenario import Engine
from tuner.clock import PhaseClock
from tuner.composing.boards import is_here
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.device.machine import engine_version, seen_on
from tuner.device.session import Session
from tuner.doctor.diagnose import spoiled_by
from tuner.engines.heard import Consulted
from tuner.engines.lookup import question_of, rules_of
from tuner.errors import AttnpinError
from tuner.hf.files import read_files
from tuner.progress import Progress
from tuner.settings import Settings

Packages = Mapping[str, str]

NOT_FOUND = EngineSays(failure="none was found where the worker runs")


def consulted_for_plan(settings: Settings) -> tuple[Settings, Consulted | None]:
    """What the engine says, and the settings with the release that said it; None where no worker would find one. A plan needs no
    worker: one that does not start leaves it to the rules, with the reason."""
    if settings.world is not None or not _may_be_there(settings.scenario.engine):
        return settings, None
    try:
        engine, patience = settings.scenario.engine, settings.patience
        with Progress() as progress, Keeper(Host(engine, patience=patience), progress, PhaseClock()) as keeper:
            environment = keeper.facts((settings.scenario.engine.name,)).environment
            settings = seen_on(settings, environment)
            found = consult(keeper, settings, environment)
            if found is None:
                return settings, None
            return settings, replace(found, findings=spoiled_by(keeper, environment, settings.scenario.engine, settings.config_dir))
    except AttnpinError as error:
        return settings, Consulted(None, None, EngineSays(failure=str(error)))


def consult(keeper: Keeper, settings: Settings, environment: Environment, packages: Packages | None = None) -> Consulted | None:
    """``settings`` as they are where ``keeper`` runs; None for an engine that attnpin cannot ask, and
    beside a simulated GPU, where none is. ``packages`` as for the plan."""
    (consulted,) = consult_all(keeper, [(settings, packages)], environment)
    return consulted


def consult_all(
    keeper: Keeper, asked: Sequence[tuple[Settings, Packages | None]], environment: Environment
) -> tuple[Consulted | None, ...]:
    """As `consult`, each of ``asked``; one process answers all that are of one engine and of one machine, this or a made-up one."""
    posed = [_posed(settings, environment, packages) for settings, packages in asked]
    found = {index: each for index, each in enumerate(posed) if not isinstance(each, Posed)}
    open_ = {index: each for index, each in enumerate(posed) if isinstance(each, Posed)}
    for kind in dict.fromkeys(each.kind for each in open_.values()):
        group = {index: each for index, each in open_.items() if each.kind == kind}
        says = keeper.says(kind[0], [each.question for each in group.values()], max(settings.ask_limit_s for settings, _ in asked))
        found |= {index: Consulted(each.version, each.simulated, said) for (index, each), said in zip(group.items(), says)}
    return tuple(found[index] for index in range(len(posed)))


@dataclass(frozen=True)
class Posed:
    """A question for the release ``version`` of ``engine``; ``simulated`` as in `Consulted`."""

    engine: str
    version: str
    simulated: str | None
    question: dict[str, Any]

    @property
    def kind(self) -> tuple[str, bool]:
        return self.engine, self.simulated is not None


def _posed(settings: Settings, environment: Environment, packages: Packages | None) -> Posed | Consulted | None:
    scenario = settings.scenario
    question, version = question_of(scenario.engine.name), engine_version(environment, scenario.engine.name)
    if question is None or settings.world is not None:
        return None
    if version is None:
        return Consulted(None, None, NOT_FOUND)
    rules, _ = rules_of(scenario).rules_for(version)
    simulated = not is_here(scenario.gpu, environment.board)
    checkpoint = None if settings.checkpoint is None else read_files(settings.checkpoint).config
    words = question(scenario, rules, packages, checkpoint, simulated)
    return Posed(scenario.engine.name, version, scenario.gpu.name if simulated else None, words)


def begin_engine(session: Session, settings: Settings, environment: Environment, processes: int = 1) -> None:
    """Importing the engine, where it is installed, takes as long for a process that measures as for who asks it: beside that the first
    ``processes`` of them may begin, as many as there is room for."""
    name = settings.scenario.engine.name
    drivers = (driver for entry in settings.entries for driver in entry.drivers if name in driver.packages)
    engine = next((driver.driver for driver in drivers if driver.provider is Provider.ENGINE), None)
    if engine is not None and engine_version(environment, name) is not None:
        session.expect([(Arm(name, Provider.ENGINE, engine, 1, "", (name,)),)] * processes)
        session.import_ahead()


def _may_be_there(engine: Engine) -> bool:
    """Told without importing it: a plan on a machine without the engine starts nothing."""
    return question_of(engine.name) is not None and (bool(engine.command or engine.path) or find_spec(engine.name) is not None)

"""The engine that is there now, asked what it makes of the flags of pins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from backends.environment import Environment
from backends.question import ENGINES
from store.verdicts.verdict import FlagsNow
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.device.machine import engine_version
from tuner.planning.consult import consult_all
from tuner.progress import Progress
from tuner.settings import Settings
from tuner.unmeasured.flags import Ask, Case, flags_by_engine, flags_by_rules, pinned_scenario


@contextmanager
def engine_asked(settings: Settings) -> Iterator[Ask]:
    """Whom to ask: the engine behind ``engine.command`` and ``engine.path``, as long as this lasts. Raises `UsageError` for a command
    that does not start."""
    engine, patience = settings.scenario.engine, settings.patience
    with Progress() as progress, Keeper(Host(engine, patience=patience), progress, PhaseClock()) as keeper:
        here = keeper.facts(ENGINES).environment
        yield lambda cases: flags_asked(keeper, settings, cases, here)


def flags_asked(keeper: Keeper, settings: Settings, cases: Sequence[Case], here: Environment) -> list[FlagsNow]:
    """By the word of the engine where ``keeper`` runs, made to believe in a pin's GPU where ``here`` is another machine; by rules
    where that engine cannot be asked."""
    asked = [(_asked(settings, case, here), case.now.releases) for case in cases]
    consulted = consult_all(keeper, asked, here)
    return [flags_by_rules(case) if found is None else flags_by_engine(case, found) for case, found in zip(cases, consulted)]


def _asked(settings: Settings, case: Case, here: Environment) -> Settings:
    """The pin's own scenario; the checkpoint of ``settings`` where the pin is of that very one."""
    scenario = pinned_scenario(case, engine_version(here, case.pin.engine) or case.run.default.rules_version)
    model = settings.scenario.model
    same = model.config_sha256 is not None and model.config_sha256 == case.pin.valid_for.model_config
    return replace(settings, scenario=scenario, checkpoint=settings.checkpoint if same else None)

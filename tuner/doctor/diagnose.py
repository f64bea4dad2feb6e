"""What the worker tells of its environment, and what the rules find in it."""

from __future__ import annotations

from backends.environment import Environment
from backends.silence import SilenceLimits
from store.scenario import Engine
from store.serving.diagnosis import Diagnosis, Finding
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.doctor.examine import exit_code, findings, interest, spoilers
from tuner.doctor.known import load_known
from tuner.doctor.patient import Patient
from tuner.progress import Progress


def spoiled_by(keeper: Keeper, environment: Environment, engine: Engine, config_dir: str | None) -> tuple[Finding, ...]:
    """What in the environment of ``keeper`` can spoil a measurement; no device is touched. Raises as `diagnose`."""
    known = load_known(config_dir)
    return spoilers(Patient(environment, keeper.condition(interest(known, engine.path)), None, engine.name), known)


def diagnose(engine: Engine, config_dir: str | None, patience: SilenceLimits) -> Diagnosis:
    """Raises `UsageError` for a command that does not start and for knowledge of --config-dir that cannot be read."""
    known = load_known(config_dir)
    with Progress() as progress, Keeper(Host(engine, patience=patience), progress, PhaseClock()) as keeper:
        facts, condition = keeper.facts(()), keeper.condition(interest(known, engine.path))
    patient = Patient(facts.environment, condition, facts.busy, engine.name)
    found = findings(patient, known)
    return Diagnosis(facts.environment, condition, facts.busy, found, exit_code(found))

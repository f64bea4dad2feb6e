"""`attnpin doctor`: asks the worker, applies the rules."""

from __future__ import annotations

from store.diagnosis import Diagnosis
from store.scenario import Engine
from tuner.clock import PhaseClock
from tuner.doctor.examine import exit_code, findings, interest
from tuner.doctor.known import load_known
from tuner.doctor.patient import Patient
from tuner.progress import Progress
from tuner.session import Session


def diagnose(engine: Engine, config_dir: str | None) -> Diagnosis:
    """Raises `UsageError` for a command that does not start and for knowledge of --config-dir that cannot be read."""
    known = load_known(config_dir)
    with Progress() as progress, Session(engine, progress, PhaseClock()) as session:
        facts, condition = session.facts(()), session.condition(interest(known, engine.path))
    patient = Patient(facts.environment, condition, facts.busy, engine.name)
    found = findings(patient, known)
    return Diagnosis(facts.environment, condition, facts.busy, found, exit_code(found))

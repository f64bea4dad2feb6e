"""From a measured run to what it comes to: its decision, the pin's files, the summary."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from reports import explanation, justification, summary
from reports.sweep import ending_json
from store.database.connect import Store
from store.decision import Decision, Ruling
from store.evidence.scrub import private_names, scrubbed
from store.pins.pin import Pin
from store.pins.pin_files import evidence_entry, write_pin
from store.runs.repository import load_run, save_decision
from store.runs.run import FINISHED, INCOMPLETE, Run
from tuner.decide import decide
from tuner.deciding.explanation import explain
from tuner.deciding.incumbent import incumbent
from tuner.deciding.wrong_answers import wrong_answers
from tuner.errors import OK, Incomplete, WrongResults
from tuner.pin import pin_of
from tuner.pinning.ending import ending_of
from tuner.settings import Settings


def conclude(settings: Settings, store: Store, run_id: str) -> int:
    """Decide a measured run, write the pin files, end the run in the store, print the summary.

    In this order: where the pin cannot be written, the run stays open and the same command writes it without measuring.
    """
    run = load_run(store, run_id)
    decision = decide(run, settings.without_default)
    status = ended_as(decision)
    run = replace(run, decision=decision, status=status)
    pin = None if decision.ruling is Ruling.INCOMPLETE else write(run, decision, settings.pin_path)
    save_decision(store, run_id, decision, status)
    code = exit_code(run, decision)
    if settings.json:
        sys.stdout.write(ending_json(ending_of(run, decision, pin, settings.pin_path, code)))
        return code
    sys.stdout.write(summary.render(run, pin, str(settings.pin_path) if pin else None, store.url))
    if settings.explain:
        sys.stdout.write(f"\n{explanation.render_text(explain(run))}")
    return code


def exit_code(run: Run, decision: Decision) -> int:
    """5 where what would be served answers wrongly (the pick, or without one the default), 3 where there is no pin."""
    served = decision.pick or incumbent(run)
    if served is not None and any(wrong_answers(run, served)):
        return WrongResults.exit_code
    return Incomplete.exit_code if decision.ruling is Ruling.INCOMPLETE else OK


def ended_as(decision: Decision) -> str:
    """The status of a run that was decided so."""
    return INCOMPLETE if decision.ruling is Ruling.INCOMPLETE else FINISHED


def write(run: Run, decision: Decision, path: Path) -> Pin:
    """The pin's three files at ``path``."""
    pin, public = pinned(run, decision, path)
    return write_pin(path, pin, justification.render(pin, public), public)


def pinned(run: Run, decision: Decision, path: Path) -> tuple[Pin, Run]:
    """What is to be written at ``path``, pin and evidence, free of what says where they were made."""
    public = scrubbed(run, private_names(run.scenario.engine))
    return pin_of(public, decision, evidence_entry(path, public)), public

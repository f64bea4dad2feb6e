"""What is checked: a pin, the run behind it, and what of that is in question."""

from __future__ import annotations

from dataclasses import dataclass, replace

from store.pins.pin import Pin
from store.runs.run import Run
from tuner.checking.resting import Resting
from tuner.composing.shipped import shipped_entries
from tuner.settings import Settings


@dataclass(frozen=True)
class Pinned:
    """``renew``: its files are to be written anew, which takes times also where the code is the same."""

    pin: Pin
    then: Run
    rests: Resting
    renew: bool = False


def as_pinned(settings: Settings, then: Run) -> Settings:
    """The question that the pin answers, where ``settings`` say that it serves now."""
    asked, engine = then.scenario, settings.scenario.engine
    entries = settings.entries if engine.name == asked.engine.name else shipped_entries(asked.engine.name)
    placed = replace(asked.engine, command=engine.command, path=engine.path)
    scenario = replace(asked, engine=placed, measure=replace(asked.measure, sensitivity=()))
    return replace(settings, scenario=scenario, gpu_is_auto=False, entries=entries, budget_s=None)

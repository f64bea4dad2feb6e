"""What both sides of a comparison are asked alike. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from store.scenario import Scenario
from tuner.comparing.env import Env
from tuner.errors import UsageError
from tuner.settings import Settings

OF_ONE_SIDE = ("command", "path", "version")  # of engine; beside them only the world of a simulated GPU


def refuse_other_questions(baseline: Settings, candidate: Settings) -> None:
    """Cells, server and rule are the baseline's for both sides.

    Raises `UsageError` for settings of one side alone that would change these, and so change nothing or something untold; and for
    folders put before kernels that no simulated GPU has.
    """
    if changed := next(_changed(baseline, candidate), None):
        allowed = ", ".join(f"engine.{name}" for name in OF_ONE_SIDE)
        raise UsageError(
            f"with: changes {changed} for one side alone, and both are measured by the baseline's; set it for both, outside of --baseline "
            f"and --candidate (with: takes {allowed} and gpu.simulated.*)"
        )
    if candidate.world is not None and candidate.scenario.engine.path != baseline.scenario.engine.path:
        raise UsageError(
            "path: changes nothing on a simulated GPU, which runs no kernels; name versions (name==version) or with:gpu.simulated.*"
        )


def refuse_slow_baseline(baseline: Env) -> None:
    """Raises `UsageError`."""
    if baseline.slowed:
        raise UsageError(f"--baseline {baseline.said}: slowed: makes a candidate slower than a baseline; give it to --candidate")


def _changed(baseline: Settings, candidate: Settings) -> Iterator[str]:
    """Keys, as far as they are told apart here."""
    old, new = baseline.scenario, candidate.scenario
    engine = (field.name for field in fields(old.engine) if field.name not in OF_ONE_SIDE)
    yield from (f"engine.{name}" for name in engine if getattr(old.engine, name) != getattr(new.engine, name))
    parts = (field.name for field in fields(Scenario) if field.name != "engine")
    yield from (name for name in parts if getattr(old, name) != getattr(new, name))
    if _read(baseline) != _read(candidate):
        yield "traffic.path"
    if [entry.name for entry in baseline.entries] != [entry.name for entry in candidate.entries]:
        yield "backend"
    if _rest(baseline) != _rest(replace(candidate, scenario=old)):
        yield "what is no part of an environment"


def _rest(settings: Settings) -> Settings:
    return replace(settings, world=None, entries=(), trace=None)


def _read(settings: Settings) -> tuple[object, ...] | None:
    """What was read from the file with traffic, which either side reads for itself."""
    if (trace := settings.trace) is None:
        return None
    of_file = [each.sha256 for each in (trace.requests, trace.logged) if each is not None]
    return *of_file, trace.limits, trace.at_once

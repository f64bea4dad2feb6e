"""Seeded questions: machines x models x flags, half of them drawn blindly, half aimed at a corner where rules meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from tests.engine.asked.corners import CORNERS
from tests.engine.asked.draws import Draw, flags
from tests.engine.asked.models import BY_NAME, MODELS, Asked
from tests.engine.asked.sensible import sensible
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.steps import resolve
from tuner.engines.sglang.resolver.versions import place

LOOKED_AT, WANTED = 25, 7  # candidates for each scenario, and how often a rule is to hold


@dataclass(frozen=True)
class Scenario:
    model: Asked
    request: Request


def scenarios(version: str, count: int, seed: int = 1) -> list[Scenario]:
    """``count`` scenarios that make sense, the same for the same arguments. Two thirds as drawn, but only half of those refused,
    which random flags often are; the rest where a rule holds that seldom did."""
    draw = Draw(f"{version}-{seed}")
    drawn = _stream(draw, version)
    kept = (scenario for scenario in drawn if draw.chance(0.5) or resolve(scenario.request).error is None)
    made = list(islice(kept, count * 2 // 3))
    return made + _seldom(drawn, made, count - len(made))


def _stream(draw: Draw, version: str) -> Iterator[Scenario]:
    while True:
        scenario = (_aimed if draw.chance(0.55) else _blind)(draw, version)
        if scenario is not None and sensible(scenario.model, scenario.request):
            yield scenario


def _seldom(drawn: Iterator[Scenario], made: list[Scenario], count: int) -> list[Scenario]:
    """``count`` scenarios: of the next ones those in which a rule holds that held less than ``WANTED`` times, then any."""
    held = Counter(rule for scenario in made for rule in resolve(scenario.request).path)
    found = list[Scenario]()
    for scenario in islice(drawn, LOOKED_AT * count):
        if len(found) == count:
            break
        path = resolve(scenario.request).path
        if any(held[rule] < WANTED for rule in path):
            found.append(scenario)
            held.update(path)
    return found + list(islice(drawn, count - len(found)))


def _blind(draw: Draw, version: str) -> Scenario:
    model = draw.one(*(asked for asked in MODELS if place(asked.since) <= place(version)))
    request = Request(version, model.facts, draw.machine())
    return Scenario(model, flags(draw, request))


def _aimed(draw: Draw, version: str) -> Scenario | None:
    corner = draw.one(*CORNERS)
    model = BY_NAME[draw.one(*corner.models)] if corner.models else draw.one(*MODELS)
    if place(model.since) > place(version) or place(corner.since) > place(version) or place(version) > place(corner.until):
        return None
    request = Request(version, model.facts, draw.machine(*corner.machines))
    aimed = replace(request, **{name: draw.one(*options) for name, options in corner.flags.items()})
    return Scenario(model, flags(draw, aimed, corner.noise))

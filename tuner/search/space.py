"""What there is to try: each base arm with every setting of the knobs that do something here. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.asked import Asking, asking
from backends.capability import BackendEntry, DriverEntry
from backends.judgement import reasons
from backends.knob import KV_DTYPE, PAGE_SIZE, Knob, applies
from backends.measurable import unmeasurable
from store.plan import Plan
from store.scenario import Scenario
from store.search import Search, Setting, Space
from tuner.limiting.knobs import OF_THE_SERVER, plain, with_knobs
from tuner.limits import question_of

Chosen = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Place:
    """What the settings of one base arm are judged in."""

    scenario: Scenario
    entry: BackendEntry
    base: Arm
    ask: Asking
    chunk: int


def space_of(plan: Plan, entries: Iterable[BackendEntry], packages: Mapping[str, str] | None, search: Search) -> Space:
    """Arms with ``measure.variants`` are raced as they are: they were asked for."""
    ask = asking(question_of(plan.scenario, plan.default, packages, plan.server.pool_tokens))
    settings, unsearched, wanted = list[Setting](), dict[str, None](), set(map(plain, search.knobs))
    by_name = {entry.name: entry for entry in entries}
    for base in base_arms(plan):
        place = _Place(plan.scenario, by_name[base.backend], base, ask, plan.server.chunked_prefill_size)
        knobs = [knob for knob in _knobs_of(place) if not wanted or knob.name in wanted]
        refused = {knob.name: why for knob in knobs if (why := _left_alone(place, knob))}
        unsearched |= dict.fromkeys(f"{name}: {why}" for name, why in refused.items())
        settings += _settings(place, [knob for knob in knobs if knob.name not in refused])
    unsearched |= dict.fromkeys(f"{name}: {why}" for name, why in OF_THE_SERVER.items() if not wanted or name in wanted)
    return Space(tuple(settings), tuple(unsearched))


def base_arms(plan: Plan) -> tuple[Arm, ...]:
    wanted = {(variant.backend, knob) for variant in plan.scenario.measure.variants for knob in variant.knobs}
    return tuple(arm for arm in plan.arms if not any((arm.backend, knob) in wanted for knob in arm.knobs))


def driver_of(entry: BackendEntry, arm: Arm) -> DriverEntry | None:
    return next((each for each in entry.drivers if (each.driver, each.provider) == (arm.driver, arm.provider)), None)


def _knobs_of(place: _Place) -> Iterator[Knob]:
    """Those that do something for some layer of the model."""
    driver, phases = driver_of(place.entry, place.base), place.scenario.engine.role.phases
    for knob in driver.knobs if driver else ():
        served = [phase for phase in knob.phases if phase in phases]
        kinds = [kind for phase in served for kind in place.ask(phase, place.base.page_size).kinds]
        rules = place.ask(phases[0], 0).question.rules
        if knob.search and any(applies(knob, rules, kind) for kind in kinds):
            yield knob


def _left_alone(place: _Place, knob: Knob) -> str | None:
    """Why nothing of it is tried; an explicit choice of the user's is never overridden."""
    engine, model = place.scenario.engine, place.scenario.model
    if knob.name == PAGE_SIZE and engine.page_size is not None:
        return f"engine.page_size={engine.page_size} is your choice"
    if knob.name != KV_DTYPE:
        return None
    if engine.kv_cache_dtype != "auto":
        return f"engine.kv_cache_dtype={engine.kv_cache_dtype} is your choice"
    if not engine.allow_fp8_kv:
        return "a narrower KV cache changes answers; engine.allow_fp8_kv=true allows it"
    narrow = [with_knobs(place.base, [(knob.name, value)], place.scenario).kv_dtype for value in knob.search]
    against = next(iter(unmeasurable(model, narrow)), None)
    return f"{against.asked} cannot be measured, {against.allowed} can" if against else None


def _settings(place: _Place, knobs: Sequence[Knob]) -> Iterator[Setting]:
    for chosen in choices(knobs):
        arm = with_knobs(place.base, chosen, place.scenario)
        picked = [knob for knob in knobs if knob.name in dict(chosen)]
        phases = tuple(phase for phase in place.scenario.engine.role.phases if all(phase in knob.phases for knob in picked))
        new = arm != place.base or not chosen  # its own page size is no setting of a base arm
        if phases and new and arm_serves(place, arm):
            yield Setting(place.base.name, arm, chosen, phases)


def choices(knobs: Sequence[Knob]) -> Iterator[Chosen]:
    """Every combination, all left alone first; a knob is left alone beside those it does nothing with."""
    if not knobs:
        yield ()
        return
    *others, last = knobs
    apart = {*last.without, *(knob.name for knob in others if last.name in knob.without)}
    for chosen in choices(others):
        yield chosen
        if not {name for name, _ in chosen}.intersection(apart):
            yield from ((*chosen, (last.name, value)) for value in last.search)


def arm_serves(place: _Place, arm: Arm) -> bool:
    """Whether a server could run it at its KV dtype and its page size, which has to divide a chunk (sglang/srt/server_args.py,
    check_server_args)."""
    if (arm.page_size, arm.kv_dtype) == (place.base.page_size, place.base.kv_dtype):
        return True
    if place.chunk > 0 and place.chunk % arm.page_size:
        return False
    phases = place.scenario.engine.role.phases
    asked = replace(place.ask(phases[0], 0).question, kv_dtype=arm.kv_dtype, page_size=arm.page_size)
    return not any(reasons(place.entry.capability, replace(asked, phase=phase)) for phase in phases)

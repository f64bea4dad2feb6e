"""Pins as a run could write them, of machines, models and flags of every kind: pairs and page sizes that SGLang's rules let through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from store.decision import Pair
from store.pins.pin import Pin
from store.runs.run import DefaultPick
from store.scenario import Role
from tests.engine.asked.draws import Draw, backends
from tests.engine.asked.scenarios import Scenario, scenarios
from tests.reports import building
from tests.tuner.building import ENGINE
from tuner.engines.sglang.pick import pin_flags
from tuner.engines.sglang.platforms import NPU_PAGE_SIZE, PAGE_SIZE
from tuner.engines.sglang.refused import change_by, with_flags
from tuner.engines.sglang.resolver.outcome import Resolution
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.steps import resolve
from tuner.exporting.companions import companions, with_companions

PAGES: tuple[dict[str, str], ...] = ({}, {}, *({"page-size": size} for size in ("1", "16", "32", "64", "128")))
TRIES = 30  # pairs a scenario


@dataclass(frozen=True)
class Pinned:
    """``request`` is the server's without the pin; ``phases`` are those it serves; ``left`` is said of what is not written out."""

    scenario: Scenario
    request: Request
    pin: Pin
    pair: Pair
    phases: tuple[str, ...]
    left: tuple[str, ...]


def pinned(version: str, count: int, seed: int = 3) -> list[Pinned]:
    """The same for the same arguments."""
    draw = Draw(f"pins-{version}-{seed}")
    return list(islice(_stream(version, count, draw, seed), count))


def _stream(version: str, count: int, draw: Draw, seed: int) -> Iterator[Pinned]:
    for scenario in scenarios(version, 4 * count, seed):
        request = with_flags(scenario.request, {})
        default = resolve(request)
        if default.error is None:
            found = (_pinned(draw, scenario, request, default) for _ in range(TRIES))
            yield from islice((one for one in found if one is not None), 1)


def _pinned(draw: Draw, scenario: Scenario, request: Request, default: Resolution) -> Pinned | None:
    names = backends(request.version)
    pair = Pair(draw.one(*names), draw.one(*names))
    if draw.chance(0.5):
        pair = Pair(pair.decode, pair.decode)
    both = {"prefill-attention-backend": pair.prefill, "decode-attention-backend": pair.decode}
    page = resolve(with_flags(request, {**both, **draw.one(*PAGES)})).page_size or PAGE_SIZE
    role = Role(request.role)
    picked = DefaultPick(str(default.prefill), str(default.decode), default.page_size or PAGE_SIZE, "", "", request.version)
    flags = pin_flags(pair, picked, page, replace(ENGINE, role=role), request.model.architecture)
    served = resolve(with_flags(request, dict(flags)))
    phases = tuple(phase.value for phase in role.phases)
    same = all(getattr(served, phase) == getattr(pair, phase) for phase in phases) and (served.page_size or PAGE_SIZE) == page
    if not flags or served.error is not None or not same:
        return None
    pin = _pin(flags, page, request, role)
    own = NPU_PAGE_SIZE if request.machine.kind == "npu" else PAGE_SIZE
    whole, said = with_companions(pin, tuple(companions(pin, own, request.kv_cache_dtype)), partial(change_by, request))
    return Pinned(scenario, request, whole, pair, phases, said)


def _pin(flags: tuple[tuple[str, str], ...], page: int, request: Request, role: Role) -> Pin:
    pin = building.pin()
    settings = () if role is Role.UNIFIED else (("engine.role", role.value),)
    holds = replace(pin.valid_for, page_size=page, kv_cache_dtype=request.kv_cache_dtype, settings=settings)
    return replace(pin, flags=flags, because=(), valid_for=holds)

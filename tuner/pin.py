"""From a decided run to the pin: the flags, and what they are valid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

from backends.arm import Arm
from backends.environment import Distribution, Environment
from store.decision import Decision, Pair, Ruling
from store.pins.pin import PIN_SCHEMA, Pin, Requests, ValidFor
from store.runs.run import Run
from store.scenario import Scenario
from store.traffic import Traffic

# Fields of the engine that a pin keeps under names of their own, or that say where and not what.
KEPT_ELSEWHERE = frozenset({"name", "version", "command", "path", "tensor_parallel", "kv_cache_dtype"})
EVERYWHERE = frozenset({"torch", "triton"})  # import names that every arm runs on


def pin_of(run: Run, decision: Decision, evidence: tuple[str, str]) -> Pin:
    """The pin of a run that may pin (not `Ruling.INCOMPLETE`). ``evidence`` is its file name and SHA-256."""
    if decision.ruling is Ruling.INCOMPLETE:
        raise ValueError(f"run {run.id} is incomplete; it has no pin")
    return Pin(
        schema=PIN_SCHEMA,
        engine=run.scenario.engine.name,
        flags=decision.flags,
        unset=None if decision.flags else decision.unset_because,
        because=decision.because,
        valid_for=valid_for(run, decision),
        evidence=evidence,
        run=run.id,
        created=run.created,
        tool_version=run.tool_version,
        variables=decision.variables,
        boards=run.boards,
    )


def valid_for(run: Run, decision: Decision | None) -> ValidFor:
    """What must stay as it was for the pin to hold: the board, the distributions that the picked and default arms use, and
    what was asked. Without a decision no arm is under it yet."""
    board, environment, engine = run.environment.board, run.environment, run.scenario.engine
    under, pick = (arms_under(decision), decision.pick) if decision else (frozenset(), None)
    arms = [arm for arm in run.arms if arm.name in under]
    return ValidFor(
        gpu=board.name,
        sm=board.sm,
        memory_bytes=board.memory_bytes,
        power_limit_w=board.power_limit_w,
        mig=board.mig,
        driver=board.driver,
        engine=engine.name,
        engine_version=run.engine_version,
        rules_version=run.default.rules_version,
        python=environment.python,
        torch=environment.torch,
        cuda=environment.cuda,
        distributions=tuple((d.name, d.version, d.digest) for d in distributions_under(environment, arms)),
        variables=environment.variables,
        model=run.scenario.model.name,
        tensor_parallel=engine.tensor_parallel,
        kv_cache_dtype=_kv_cache_dtype(arms, decision) or run.default.kv_cache_dtype,
        page_size=next((arm.page_size for arm in arms if pick and arm.name == pick.decode), run.default.page_size),
        traffic=run.scenario.traffic.name,
        requests=requests_of(run.scenario.traffic),
        settings=settings_of(run.scenario),
        model_config=run.scenario.model.config_sha256,
        image=environment.image,
    )


def _kv_cache_dtype(arms: Sequence[Arm], decision: Decision | None) -> str | None:
    """The picked one where it is another than the default's; None = what the engine serves by itself."""
    if decision is None or decision.pick is None or decision.default is None:
        return None
    dtypes = {arm.name: arm.kv_dtype for arm in arms}
    picked = dtypes.get(decision.pick.decode)
    return None if picked == dtypes.get(decision.default.decode) else picked


def requests_of(traffic: Traffic) -> Requests:
    return Requests(traffic.concurrency, traffic.prompt, traffic.output, traffic.cached_share)


def settings_of(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """The model's dtype and context, the objective, and whatever of the engine is not as the engine has it by itself."""
    model, objective = scenario.model, scenario.decide.objective.value
    always = (("decide.objective", objective), ("model.context_length", str(model.context_length)), ("model.dtype", model.dtype))
    required = (("model.required_backend", model.required_backend),) if model.required_backend else ()
    return tuple(sorted((*always, *required, *_changed(scenario.engine, "engine."))))


def _changed(record: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """Fields with another value than their default, by the key a user writes."""
    for field in fields(record):
        value, key = getattr(record, field.name), prefix + field.name
        default = None if field.default is MISSING else field.default
        if is_dataclass(value):
            yield from _changed(value, f"{key.replace('speculation', 'speculative')}.")
        elif value not in (default, None, ()) and field.name not in KEPT_ELSEWHERE:
            yield key, _written(value)


def _written(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def arms_under(decision: Decision) -> frozenset[str]:
    """Names of the arms of `pairs_under`."""
    return frozenset(name for pair in pairs_under(decision) for name in (pair.prefill, pair.decode))


def pairs_under(decision: Decision) -> tuple[Pair, ...]:
    """Those whose change would touch the decision: the pick and the default; where nothing is pinned all that were ranked, since
    any of them may win after its upgrade."""
    ranked = [score.pair for score in decision.scores] if not decision.flags else []
    return tuple(dict.fromkeys(pair for pair in (decision.pick, decision.default, *ranked) if pair is not None))


def distributions_under(environment: Environment, arms: list[Arm]) -> list[Distribution]:
    """Installed distributions behind what ``arms`` import (their kernel companions too), and torch, which every arm runs on."""
    wanted = {*EVERYWHERE, *(package for arm in arms for package in arm.rests_on)}
    owners = {owner for package, owner in environment.imports if package in wanted}
    return [distribution for distribution in environment.distributions if distribution.name in owners]


def arms_on(run: Run, now: Environment, distribution: str) -> tuple[str, ...]:
    """The arms of ``run`` whose imports ``distribution`` is behind, then or now; all of them for torch and triton."""
    packages = packages_of(distribution, (run.environment, now))
    everywhere = bool(packages & EVERYWHERE)
    return tuple(arm.name for arm in run.arms if everywhere or packages.intersection(arm.rests_on)) or ("the engine",)


def packages_of(distribution: str, environments: Iterable[Environment]) -> frozenset[str]:
    """The import names that ``distribution`` is behind in any of ``environments``."""
    return frozenset(package for environment in environments for package, owner in environment.imports if owner == distribution)

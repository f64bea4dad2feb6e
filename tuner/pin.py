"""From a decided run to the pin: the flags, and what they are valid for."""

from __future__ import annotations

from backends.arm import Arm
from backends.environment import Distribution, Environment
from store.decision import Decision, Ruling
from store.pin import PIN_SCHEMA, Pin, ValidFor
from store.run import Run


def pin_of(run: Run, decision: Decision, evidence: tuple[str, str]) -> Pin:
    """The pin of a run that may pin (not `Ruling.INCOMPLETE`). ``evidence`` is its file name and SHA-256."""
    if decision.ruling is Ruling.INCOMPLETE:
        raise ValueError(f"run {run.id} is incomplete; it has no pin")
    return Pin(
        schema=PIN_SCHEMA,
        engine=run.scenario.engine.name,
        flags=decision.flags,
        unset=decision.unset_because,
        because=decision.because,
        valid_for=valid_for(run, decision),
        evidence=evidence,
        run=run.id,
        created=run.created,
        tool_version=run.tool_version,
    )


def valid_for(run: Run, decision: Decision) -> ValidFor:
    """What must stay as it was for the pin to hold: the board and the distributions that the picked and default arms use."""
    board, environment, engine = run.environment.board, run.environment, run.scenario.engine
    arms = [arm for arm in run.arms if arm.name in arms_under(decision)]
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
        kv_cache_dtype=run.default.kv_cache_dtype,
        page_size=next((arm.page_size for arm in arms if decision.pick and arm.name == decision.pick.decode), run.default.page_size),
        traffic=run.scenario.traffic.name,
    )


def arms_under(decision: Decision) -> frozenset[str]:
    """Names of the arms whose change would touch the decision: the pick's and the default's; where nothing is pinned all
    that were ranked, since any of them may win after its upgrade."""
    ranked = [score.pair for score in decision.scores] if not decision.flags else []
    pairs = [pair for pair in (decision.pick, decision.default, *ranked) if pair is not None]
    return frozenset(name for pair in pairs for name in (pair.prefill, pair.decode))


def distributions_under(environment: Environment, arms: list[Arm]) -> list[Distribution]:
    """Installed distributions behind what ``arms`` import (their kernel companions too), and torch, which every arm runs on."""
    wanted = {"torch", "triton", *(package for arm in arms for package in arm.packages)}
    owners = {owner for package, owner in environment.imports if package in wanted}
    return [distribution for distribution in environment.distributions if distribution.name in owners]

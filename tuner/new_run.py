"""A run before its first measurement: the record that everything measured is stored under."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from backends.arm import Arm
from backends.cell import Phase
from backends.environment import Environment
from backends.simulated.world import World
from backends.spec import StageSpec
from store.database.passwords import without_password
from store.digest import run_digest, simulated_digest
from store.plan import Plan
from store.runs.run import PROTOCOL_VERSION, DefaultPick, Run
from store.serving.diagnosis import Finding
from tuner.device.machine import engine_version
from tuner.engines.lookup import rules_of
from tuner.version import __version__
from tuner.workload.ranks import ranks_of

AS_DATA = ("--json", "json=true")


def new_run(plan: Plan, environment: Environment, findings: tuple[Finding, ...] = (), world: World | None = None) -> Run:
    """The run of ``plan`` in ``environment``, of which ``findings`` tell what is wrong, with nothing measured yet. ``world``: what
    stands in for the GPU; in another one the same question is another run."""
    scenario = plan.scenario
    digest = run_digest(scenario, environment, PROTOCOL_VERSION)
    now = datetime.now(UTC)
    return Run(
        id=new_id(now),
        digest=digest if world is None else simulated_digest(digest, world),
        protocol=PROTOCOL_VERSION,
        status="running",
        created=now.isoformat(timespec="seconds"),
        tool_version=__version__,
        command=command_line("tune"),  # Hydra was handed the rest
        scenario=scenario,
        environment=environment,
        engine_version=engine_version(environment, scenario.engine.name),
        default=plan.default,
        arms=plan.arms,
        cells=plan.cells,
        exclusions=plan.exclusions,
        trials=(),
        rounds=(),
        decision=None,
        wall_seconds=(),
        notes=plan.notes,
        terms=plan.terms,
        findings=findings,
    )


def new_id(now: datetime) -> str:
    """Of a run or a comparison: when it was begun, and something to tell apart what was begun in one second."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def command_line(*words: str) -> str:
    """What was typed, as a shell would take it again, but for the password of a database and for where and how the answer
    is wanted; ``words`` stand where they were taken off."""
    typed = [without_password(word) for word in sys.argv[1:] if word not in AS_DATA and not word.startswith("executor.")]
    return shlex.join(["attnpin", *words, *typed])


def stage_of(plan: Plan) -> StageSpec:
    """The server that the plan's scenario would start, as the worker needs it."""
    return StageSpec(
        device=plan.scenario.gpu.kind,
        model=rules_of(plan.scenario).served_model(plan.scenario.model),
        attention_tp=ranks_of(plan.scenario.engine).attention,
        context_length=plan.server.context_length,
        chunked_prefill_size=plan.server.chunked_prefill_size,
        pool_tokens=plan.server.pool_tokens,
        memory_fraction=plan.scenario.measure.memory_fraction,
        graph_max_batch=max(plan.server.captured_batches, default=0),
        deterministic="deterministic" in plan.scenario.engine.features,
        drafting=plan.server.drafting,
    )


def default_arms(default: DefaultPick, arms: Iterable[Arm]) -> dict[Phase, str]:
    """The names of the arms that are the engine's own pick, by phase; a phase is missing where no arm is. Of several that without knobs."""
    backends = {Phase.PREFILL: default.prefill, Phase.DECODE: default.decode}
    own = sorted((arm for arm in arms if arm.is_original), key=lambda arm: (arm.kv_dtype != default.kv_cache_dtype, len(arm.knobs)))
    named = {(arm.backend, arm.page_size): arm.name for arm in reversed(own)}
    return {phase: named[backend, default.page_size] for phase, backend in backends.items() if (backend, default.page_size) in named}

"""The whole plan: what the engine would pick, what would be measured, what not and why, and at what cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from backends.capability import BackendEntry
from backends.gpu import MEASURED_KINDS
from backends.model import Attention
from reports.doctor import in_a_sentence
from store.asked import EngineAnswer
from store.decision import Pair
from store.plan import Plan, Server
from store.run import DefaultPick
from store.scenario import Lengths, Role, Scenario
from tuner.cells import cells_for
from tuner.drivers import tools_of
from tuner.engines.heard import Consulted, heard
from tuner.engines.lookup import rules_of
from tuner.engines.rules import Settled
from tuner.estimate import estimate
from tuner.guards import guard_cells
from tuner.lengths import P95
from tuner.limit_notes import cost_notes, refusal_notes, trust_notes
from tuner.limits import Sifted, serves, sift
from tuner.loads import longest_request
from tuner.prospect import prospect
from tuner.ranks import rank_traffic, ranks_of
from tuner.terms import serving_terms

if TYPE_CHECKING:
    from tuner.settings import Settings

Packages = Mapping[str, str]

WORTH_SAYING = 0.05  # of the prompts


def make_plan(settings: Settings, packages: Packages | None = None, consulted: Consulted | None = None) -> Plan:
    """The plan of one request. ``packages``: import names found where the worker runs, with their versions, None for
    a plan without a worker; ``consulted``: the engine itself, None = not asked. The engine's version is the scenario's."""
    plan = plan_of(settings.scenario, settings.entries, packages, consulted)
    said = None if settings.budget_s is None else prospect(plan, settings.budget_s)
    wrong = map(in_a_sentence, consulted.findings if consulted else ())
    return replace(plan, notes=(*settings.model_notes, *plan.notes), beforehand=(*wrong, *plan.beforehand, *([said] if said else [])))


def plan_of(
    scenario: Scenario, entries: tuple[BackendEntry, ...], packages: Packages | None = None, consulted: Consulted | None = None
) -> Plan:
    engine = rules_of(scenario)
    rules, unknown_version = engine.rules_for(scenario.engine.version)
    settled = heard(scenario, entries, engine.settled(scenario, entries, rules, packages), consulted)
    default = settled.default
    server = engine.server_for(scenario, rules, default.page_size)
    sifted = sift(scenario, entries, default, packages, server.pool_tokens)
    trust = tuple(trust_notes(sifted))
    workload = cells_for(scenario, server, engine.rank_layers(scenario), default.page_size)
    guards = guard_cells(scenario, server, workload.cells, sifted.arms)
    cells = (*workload.cells, *guards.cells)
    return Plan(
        scenario=scenario,
        default=default,
        server=server,
        arms=sifted.arms,
        exclusions=sifted.exclusions,
        page_sizes=sifted.page_sizes,
        cells=cells,
        eager=tuple(entry.name for entry in entries if not entry.graph and entry.name in {arm.backend for arm in sifted.arms}),
        estimate=estimate(scenario, server, sifted.arms, cells, sifted.exclusions),
        notes=(
            *((unknown_version,) if unknown_version else ()),
            *settled.caveats,
            *traffic_notes(scenario, server),
            *workload.notes,
            *guards.notes,
            *cost_notes(sifted, measured=True),
            *(trust if packages is not None else ()),
        ),
        beforehand=(
            *worker_notes(scenario, entries, sifted, packages, default.asked),
            *(trust if packages is None else ()),
            *cost_notes(sifted, measured=False),
        ),
        fatal=(*settled.refusals, *settled.endings, *fatal_notes(scenario, default, sifted)),
        terms=serving_terms(scenario, entries, rules, sifted.arms, sifted.barred),
        apart=sifted.apart,
        path=settled.path,
        refused=refused_by(settled, unknown_version),
    )


def refused_by(settled: Settled, unknown_version: str | None) -> str | None:
    """Why the engine would not start, or not stay: by its own word, or by the rules that were read of its very release."""
    asked = settled.default.asked
    own = asked is not None and asked.refusal is not None
    return next(iter((*settled.refusals, *settled.endings)), None) if own or unknown_version is None else None


def fatal_notes(scenario: Scenario, default: DefaultPick, sifted: Sifted) -> Iterable[str]:
    """Why a run would pin nothing."""
    if scenario.gpu.kind not in MEASURED_KINDS:
        return (f"a plan is all there is for {scenario.gpu.name}: attnpin measures on NVIDIA GPUs and on CPUs",)
    return dict.fromkeys(default_notes(default, sifted, scenario.engine.role))


def default_notes(default: DefaultPick, sifted: Sifted, role: Role = Role.UNIFIED) -> Iterable[str]:
    """A default that is not among the arms of a phase that is served: without it a run writes no pin."""
    for phase in reversed(role.phases):
        backend = Pair(default.prefill, default.decode).of(phase)
        if not any(arm.backend == backend and serves(arm, phase, sifted.exclusions) for arm in sifted.arms):
            yield from refusal_notes(backend, phase, sifted)
            yield f"the default {backend} cannot be measured in {phase.value}: a run would end incomplete and pin nothing"


def worker_notes(
    scenario: Scenario,
    entries: Iterable[BackendEntry],
    sifted: Sifted,
    packages: Packages | None,
    asked: EngineAnswer | None = None,
) -> Iterable[str]:
    """What was taken for granted of the place where the worker runs. ``asked``: the engine was, and nothing else there."""
    if scenario.gpu.kind not in MEASURED_KINDS:
        return
    if packages is None and asked is not None and asked.version is not None:
        yield f"no worker was asked for more than {scenario.engine.name}'s answer: the kernel libraries are assumed to be installed"
    elif packages is None and scenario.gpu.kind == "cpu":
        yield "no worker was asked: kernel adapters are assumed, the engine's own backend is measured where it is installed"
    elif packages is None:
        yield f"no worker was asked: {scenario.engine.name} and the kernel libraries are assumed to be installed"
    for backend, tools in tools_of(entries, sifted.arms, scenario.gpu.kind):
        yield f"{backend} needs {' and '.join(tools)} on the worker, which is checked there"


def traffic_notes(scenario: Scenario, server: Server) -> Iterable[str]:
    """Where the traffic or the model is cut to what is measured."""
    limit = longest_request(server)
    if (cut := share_above(scenario.traffic.prompt, limit)) > WORTH_SAYING:
        yield f"{cut:.0%} of the prompts are longer than the {limit} tokens a request may reach and are cut there"
    if server.pool_tokens is None:
        yield f"the KV capacity is unknown ({_why_no_pool(scenario, server)}): no batch was dropped for it"
    if (groups := scenario.engine.attn_dp_size) > 1:
        running = rank_traffic(scenario.traffic, ranks_of(scenario.engine)).concurrency
        yield f"cells are those of one of {groups} groups of attention data parallelism, each with {running} of the requests"
    if (stages := scenario.engine.pipeline_parallel) > 1:
        yield f"cells and memory are those of a server with one stage, not of engine.pipeline_parallel={stages}"
    if scenario.model.attention is Attention.MLA:
        yield f"MLA cells have the absorbed geometry; {rules_of(scenario).LATENT_PREFILLS}"


def share_above(lengths: Lengths, limit: int) -> float:
    """Share of the log-normal's requests with more tokens than ``limit``."""
    sigma = math.log(lengths.p95_tokens / lengths.median_tokens) / P95
    distance = math.log(limit / lengths.median_tokens)
    return float(distance < 0) if sigma == 0 else 1 - NormalDist().cdf(distance / sigma)


def _why_no_pool(scenario: Scenario, server: Server) -> str:
    if scenario.gpu.memory_bytes is None or server.mem_fraction_static is None:
        return "no memory size is known"
    weights, memory = server.weight_bytes / 1e9, scenario.gpu.memory_bytes * server.mem_fraction_static / 1e9
    width = scenario.model.dtype if scenario.model.weight_bits is None else f"{scenario.model.weight_bits:.3g} bits"
    return f"weights of {weights:.0f} GB a rank at {width} leave nothing of {memory:.0f} GB"

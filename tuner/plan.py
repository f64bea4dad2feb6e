"""The whole plan: what the engine would pick, what would be measured, what not and why, and at what cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.model import Attention
from store.plan import Plan, Server
from store.run import DefaultPick
from store.scenario import Lengths, Scenario
from tuner.cells import cells_for
from tuner.drivers import tools_of
from tuner.engines.sglang import caveats, default_pick
from tuner.engines.sglang_memory import server_for
from tuner.engines.sglang_questions import rank_layers
from tuner.engines.sglang_rules import rules_for
from tuner.estimate import estimate
from tuner.guards import guard_cells
from tuner.lengths import P95
from tuner.limits import Sifted, serves, sift
from tuner.loads import longest_request

if TYPE_CHECKING:
    from tuner.settings import Settings

Packages = Mapping[str, str]

WORTH_SAYING = 0.05  # of the prompts


def make_plan(settings: Settings, packages: Packages | None = None) -> Plan:
    """The plan of one request. ``packages``: import names found where the worker runs (values are not looked at), None
    for a plan without a worker. The engine's version is the scenario's."""
    return plan_of(settings.scenario, settings.entries, packages)


def plan_of(scenario: Scenario, entries: tuple[BackendEntry, ...], packages: Packages | None = None) -> Plan:
    rules, unknown_version = rules_for(scenario.engine.version)
    default = default_pick(scenario, entries, rules, packages)
    sifted = sift(scenario, entries, default, packages)
    server = server_for(scenario, rules, default.page_size)
    workload = cells_for(scenario, server, rank_layers(scenario), default.page_size)
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
            *caveats(scenario, entries, rules, packages),
            *traffic_notes(scenario, server),
            *workload.notes,
            *guards.notes,
        ),
        beforehand=(*default_notes(default, sifted), *worker_notes(scenario, entries, sifted, packages)),
    )


def default_notes(default: DefaultPick, sifted: Sifted) -> Iterable[str]:
    """A default that is not among the arms of a phase: without it a run writes no pin."""
    for phase, backend in ((Phase.PREFILL, default.prefill), (Phase.DECODE, default.decode)):
        if not any(arm.backend == backend and serves(arm, phase, sifted.exclusions) for arm in sifted.arms):
            yield f"the default {backend} cannot be measured in {phase.value}: a run would end incomplete and pin nothing"


def worker_notes(scenario: Scenario, entries: Iterable[BackendEntry], sifted: Sifted, packages: Packages | None) -> Iterable[str]:
    """What was taken for granted of the place where the worker runs."""
    if packages is None and scenario.gpu.kind == "cpu":
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
    if scenario.model.attention is Attention.MLA:
        yield "MLA cells have the absorbed geometry; SGLang runs prefills without a prefix, or with a long one, as plain attention"


def share_above(lengths: Lengths, limit: int) -> float:
    """Share of the log-normal's requests with more tokens than ``limit``."""
    sigma = math.log(lengths.p95_tokens / lengths.median_tokens) / P95
    distance = math.log(limit / lengths.median_tokens)
    return float(distance < 0) if sigma == 0 else 1 - NormalDist().cdf(distance / sigma)


def _why_no_pool(scenario: Scenario, server: Server) -> str:
    if scenario.gpu.memory_bytes is None or server.mem_fraction_static is None:
        return "no memory size is known"
    weights, memory = server.weight_bytes / 1e9, scenario.gpu.memory_bytes * server.mem_fraction_static / 1e9
    return f"weights of {weights:.0f} GB a rank at {scenario.model.dtype} leave nothing of {memory:.0f} GB"

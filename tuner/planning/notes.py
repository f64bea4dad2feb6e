"""What is said beside a plan: why it could pin nothing, what is taken for granted of the worker, what the traffic was cut to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist

from backends.capability import BackendEntry
from backends.gpu import MEASURED_KINDS
from backends.model import Attention
from store.decision import Pair
from store.engines.asked import EngineAnswer
from store.plan import Server
from store.runs.run import DefaultPick
from store.scenario import Role, Scenario
from store.traffic import Lengths
from tuner.engines.lookup import rules_of
from tuner.limiting.drivers import tools_of
from tuner.limiting.notes import refusal_notes
from tuner.limits import Sifted, serves
from tuner.workload.lengths import P95, mean_tokens
from tuner.workload.loads import longest_request
from tuner.workload.ranks import rank_traffic, ranks_of

Packages = Mapping[str, str]

WORTH_SAYING = 0.05  # of the prompts


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
    if scenario.traffic.recorded is None and (cut := share_above(scenario.traffic.prompt, limit)) > WORTH_SAYING:
        yield f"{cut:.0%} of the prompts are longer than the {limit} tokens a request may reach and are cut there"
    if server.pool_tokens is None:
        yield f"the KV capacity is unknown ({_why_no_pool(scenario, server)}): no batch was dropped for it"
    elif server.pool_tokens < server.chunked_prefill_size:
        yield (
            f"the KV pool comes out at {server.pool_tokens} tokens, less than one prefill chunk of {server.chunked_prefill_size}: such a "
            "server may not start; engine.mem_fraction_static sets another share of the memory"
        )
    yield from _queue(scenario, server)
    if (groups := scenario.engine.attn_dp_size) > 1:
        running = rank_traffic(scenario.traffic, ranks_of(scenario.engine)).concurrency
        yield f"cells are those of one of {groups} groups of attention data parallelism, each with {running} of the requests"
    if (stages := scenario.engine.pipeline_parallel) > 1:
        yield f"cells and memory are those of a server with one stage, not of engine.pipeline_parallel={stages}"
    if scenario.model.attention is Attention.MLA:
        yield f"MLA decode cells have the absorbed geometry; {rules_of(scenario).LATENT_PREFILLS}"


def _queue(scenario: Scenario, server: Server) -> Iterable[str]:
    """Of traffic that is made up from its lengths; a replay says itself what had to wait."""
    traffic, limit = rank_traffic(scenario.traffic, ranks_of(scenario.engine)), longest_request(server)
    if traffic.recorded is not None or server.pool_tokens is None:
        return
    held = mean_tokens(traffic.prompt, limit) + mean_tokens(traffic.output, limit) / 2 - traffic.shared_prefix_tokens
    at_once = int(server.pool_tokens / max(1.0, held))
    if at_once < traffic.concurrency:
        yield (
            f"traffic exceeds the KV capacity: the pool of about {server.pool_tokens} tokens holds some {at_once} of these requests at "
            f"once, and of {traffic.concurrency} the others queue"
        )


def share_above(lengths: Lengths, limit: int) -> float:
    """Share of the log-normal's requests with more tokens than ``limit``."""
    sigma = math.log(lengths.p95_tokens / lengths.median_tokens) / P95
    distance = math.log(limit / lengths.median_tokens)
    return float(distance < 0) if sigma == 0 else 1 - NormalDist().cdf(distance / sigma)


def _why_no_pool(scenario: Scenario, server: Server) -> str:
    if scenario.gpu.memory_bytes is None or server.static_bytes is None or server.mem_fraction_static is None:
        return "no memory size is known"
    weights, static = server.weight_bytes / 1e9, server.static_bytes / 1e9
    width = scenario.model.dtype if scenario.model.weight_bits is None else f"{scenario.model.weight_bits:.3g} bits"
    said = f"weights of {weights:.1f} GB a rank at {width} leave nothing of the {static:.1f} GB that they and the pool may take"
    needed = server.mem_fraction_static * server.weight_bytes / server.static_bytes
    remedy = f"engine.mem_fraction_static above {needed:.3f}, " if needed < 1 else ""
    return f"{said}, by which no server starts; {remedy}more ranks or narrower weights leave room"

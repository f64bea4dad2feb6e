"""A trace on the server that is planned: the scenario with what came of it, and the server with the limits it was started with."""

from __future__ import annotations

from dataclasses import replace

from store.plan import Server
from store.scenario import Scenario
from tuner.engines.lookup import rules_of
from tuner.traffic.pace import pace_of
from tuner.traffic.recorded import recorded_traffic
from tuner.traffic.trace import Limits, Trace


def replayed(trace: Trace, scenario: Scenario, server: Server, page_size: int) -> tuple[Scenario, Server]:
    served = limited(server, trace.limits)
    kv_dtype = rules_of(scenario).resolved_kv_dtype(scenario.model, scenario.engine.kv_cache_dtype)
    pace = pace_of(scenario, kv_dtype)
    return replace(scenario, traffic=recorded_traffic(trace, scenario, served, page_size, pace)), served


def limited(server: Server, limits: Limits) -> Server:
    """What is not limited otherwise stays the engine's own."""
    return replace(
        server,
        max_running_requests=limits.max_running_requests or server.max_running_requests,
        chunked_prefill_size=limits.chunked_prefill_size or server.chunked_prefill_size,
        pool_tokens=limits.pool_tokens or server.pool_tokens,
    )

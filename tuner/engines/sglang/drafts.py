"""The server's speculative decoding as SGLang resolves it: what of it attention sees."""

from __future__ import annotations

from dataclasses import replace

from backends.cell import Phase
from backends.drafting import Drafting
from store.plan import Server
from store.scenario import Scenario
from tuner.engines.sglang.resolution import answer_to


def with_drafts(server: Server, scenario: Scenario, rules: str) -> Server:
    """``server`` with its draft; without one where SGLang leaves its size open until it has read a checkpoint."""
    if scenario.engine.speculation.algorithm is None:
        return server
    found = answer_to(scenario, rules).settings
    if found.algorithm is None or not found.draft_tokens:
        return server
    drafting = Drafting(found.algorithm.upper(), found.topk or 1, found.steps or found.draft_tokens - 1, found.draft_tokens)
    return replace(server, drafting=drafting, verify_side=Phase(found.verify_side))

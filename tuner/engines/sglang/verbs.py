"""SGLang behind `tuner.engines.rules.EngineRules`: all that the rest asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.capability import BackendEntry
from store.engines.rule_path import DefaultTree
from store.plan import Server
from store.scenario import Scenario
from tuner.engines.rules import Settled
from tuner.engines.sglang import memory, pages
from tuner.engines.sglang.caveats import caveats, refusals
from tuner.engines.sglang.drafts import with_drafts
from tuner.engines.sglang.pick import default_pick, pin_flags
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.questions import question_for, rank_layers
from tuner.engines.sglang.refused import change_by, refusal_of, refused
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolution import answer_to, path_of
from tuner.engines.sglang.rules import resolved_kv_dtype, rules_for
from tuner.engines.sglang.tree import tree_for
from tuner.engines.sglang.unheard import ends_at_its_start
from tuner.engines.sglang.windows import served_model

__all__ = [
    "LATENT_PREFILLS",
    "changed_by",
    "default_page_size",
    "default_tree",
    "page_sizes",
    "pin_flags",
    "question_for",
    "rank_layers",
    "refusal_of",
    "refused",
    "resolved_kv_dtype",
    "rules_for",
    "served_model",
    "server_for",
    "settled",
]

LATENT_PREFILLS = "SGLang runs prefills without a prefix, or with a long one, as plain attention"


def settled(scenario: Scenario, entries: tuple[BackendEntry, ...], rules: str, packages: Mapping[str, str] | None = None) -> Settled:
    return Settled(
        default=default_pick(scenario, entries, rules, packages),
        path=path_of(answer_to(scenario, rules, packages), packages),
        caveats=caveats(scenario, entries, rules, packages),
        refusals=tuple(refusals(scenario, rules, packages)),
        endings=tuple(ends_at_its_start(scenario, rules)),
    )


def server_for(scenario: Scenario, rules: str, page_size: int) -> Server:
    return with_drafts(memory.server_for(scenario, rules, page_size), scenario, rules)


def changed_by(
    scenario: Scenario, flags: Mapping[str, str], more: Mapping[str, str], rules: str, packages: Mapping[str, str] | None = None
) -> str | None:
    return change_by(request_for(scenario, rules, packages), flags, more)


def page_sizes(scenario: Scenario, rules: str, packages: Mapping[str, str] | None = None) -> Callable[[BackendEntry], int]:
    size_with = pages.page_sizes(scenario, rules, packages)
    return lambda entry: size_with(entry.name)


def default_tree(scenario: Scenario, rules: str) -> DefaultTree:
    return tree_for(answer_to(scenario, rules))

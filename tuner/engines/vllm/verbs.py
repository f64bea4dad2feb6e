"""vLLM behind `tuner.engines.rules.EngineRules`: all that the rest asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.capability import BackendEntry
from store.decision import Pair
from store.runs.run import DefaultPick
from store.scenario import Exclusion, Scenario
from tuner.engines.rules import Settled
from tuner.engines.vllm.block_sizes import block_size_with
from tuner.engines.vllm.memory import server_for
from tuner.engines.vllm.pick import chosen, default_pick, pin_flags, takers
from tuner.engines.vllm.questions import question_for, rank_layers, served_model
from tuner.engines.vllm.rules import default_page_size, resolved_kv_dtype, rules_for
from tuner.engines.vllm.told import caveats, path_of
from tuner.engines.vllm.told import refusals as refusals_of

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

# vllm/model_executor/layers/attention/mla_attention.py; vllm/v1/attention/backends/mla/prefill/selector.py
LATENT_PREFILLS = "vLLM runs prefills as plain attention, through another list of backends (attention_config.mla_prefill_backend)"


def settled(scenario: Scenario, entries: tuple[BackendEntry, ...], rules: str, packages: Mapping[str, str] | None = None) -> Settled:
    picks = chosen(scenario, entries, rules, packages)
    return Settled(
        default=default_pick(scenario, entries, rules, packages),
        path=path_of(picks),
        caveats=tuple(caveats(scenario, picks)),
        refusals=tuple(refusals_of(scenario, rules, picks)),
        takers=takers(scenario, entries, rules, packages),
    )


def page_sizes(scenario: Scenario, rules: str, packages: Mapping[str, str] | None = None) -> Callable[[BackendEntry], int]:
    return lambda entry: block_size_with(scenario, entry, rules, packages)


def changed_by(
    scenario: Scenario, flags: Mapping[str, str], more: Mapping[str, str], rules: str, packages: Mapping[str, str] | None = None
) -> None:
    """Nothing: a block size demotes backends that nobody named, and one that does not fit the named one was never pinned."""


def default_tree(scenario: Scenario, rules: str) -> None:
    """None: vLLM walks down a list."""


def refused(scenario: Scenario, backend: str, default: DefaultPick, packages: Mapping[str, str] | None = None) -> tuple[Exclusion, ...]:
    """None beside the limits of the backends: vLLM asks nothing else."""
    return ()


def refusal_of(
    scenario: Scenario, pair: Pair, page_size: int, default: DefaultPick, packages: Mapping[str, str] | None = None
) -> str | None:
    """As `refused`."""
    return None

"""The block size vLLM ends up with: its default, unless a backend's kernels want another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backends.asked import Asked
from backends.capability import BackendEntry
from backends.limits import unmet
from store.scenario import Scenario
from tuner.engines.vllm.questions import question_for
from tuner.engines.vllm.rules import default_page_size


def block_size_with(scenario: Scenario, entry: BackendEntry, rules: str, packages: Mapping[str, str] | None = None) -> int:
    """Tokens of a KV block on the scenario's server, told to run ``entry``."""
    return block_size_of(entry, Asked(question_for(scenario, rules, default_page_size(scenario.gpu), packages=packages)))


def block_size_of(entry: BackendEntry, asked: Asked) -> int:
    """A set size that the kernels cannot take is refused, not changed, but on CPUs (`page_size` in the entry).

    Source: vllm/platforms/interface.py, _preferred_block_size_for_backends; vllm/platforms/cpu.py, check_and_update_config.
    """
    question = asked.question
    forced = [*_becomes(entry, "page_size", asked)]
    if forced:
        return forced[-1]
    return question.set_page_size or [default_page_size(question.gpu), *_becomes(entry, "block_size", asked)][-1]


def _becomes(entry: BackendEntry, rule: str, asked: Asked) -> Iterator[int]:
    """Of the limits that count for some layer, the narrowest last."""
    for limit in entry.capability.limits:
        if limit.rule == rule and limit.becomes is not None and any(unmet(limit, kind) is not None for kind in asked.kinds):
            yield limit.becomes

"""The shape of a rule: records of data and small named functions, no logic of SGLang's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from store.engines.recorded_reason import RecordedReason
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.versions import place


@dataclass(frozen=True)
class Settings:
    """What the rules work on: the server's settings, from the flags as written to the resolved ones. None = not settled yet.

    ``*_fixed``: the user chose the graph, so that defaults leave it alone. ``dsa_*`` are the inner backends of sparse attention.
    """

    base: str | None
    prefill: str | None
    decode: str | None
    draft: str | None
    page_size: int | None
    kv_dtype: str
    verify_side: str
    algorithm: str | None
    topk: int | None
    steps: int | None
    draft_tokens: int | None
    decode_graph: str
    prefill_graph: str
    decode_graph_fixed: bool
    prefill_graph_fixed: bool
    radix_cache: bool
    overlap: bool
    mamba_strategy: str
    uses_mamba: bool
    chunk: int
    dsa_prefill: str | None
    dsa_decode: str | None
    mem_fraction: float | None

    @property
    def prefill_side(self) -> str | None:
        """Who serves prefill: the split field, or the base where it is unset (sglang, attention_backends_of)."""
        return self.prefill or self.base

    @property
    def decode_side(self) -> str | None:
        return self.decode or self.base

    @property
    def sides(self) -> tuple[str | None, str | None]:
        return self.prefill_side, self.decode_side

    @property
    def unset(self) -> bool:
        """None of the three backend fields is set (sglang, is_attention_backend_not_set)."""
        return self.base is None and self.prefill is None and self.decode is None


Test = Callable[[Request, Settings], bool]
Tests = tuple[Test, ...]


@dataclass(frozen=True)
class Condition:
    """``words`` complete the sentence "if ...", so that a path can be read and drawn; ``opposite`` those of its negation, where
    "not ..." would not read well."""

    words: str
    holds: Test
    opposite: str = ""

    @property
    def negated(self) -> str:
        return self.opposite or (self.words.removeprefix("not ") if self.words.startswith("not ") else f"not {self.words}")


@dataclass(frozen=True)
class Sets:
    """The rule puts these values in place."""

    values: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Computes:
    """The rule puts values in place that follow from others; ``words`` say which."""

    words: str
    values: Callable[[Request, Settings], dict[str, Any]]


@dataclass(frozen=True)
class Refuses:
    """``text`` may name fields of the request as {r.field} and of the settings as {s.field}."""

    text: str
    engine_says: str


Effect = Sets | Computes | Refuses


@dataclass(frozen=True)
class Rule:
    """``when`` must hold together. ``because`` is one sentence. ``source``: file and function as in the newest release that has the rule;
    0.5.16 keeps the same functions in sglang/srt/server_args.py and sglang/srt/arg_groups/overrides.py. ``since`` and ``until`` are the
    oldest and the newest release that was read with it. ``reason``: what its authors recorded, where that can be measured again."""

    id: str
    when: tuple[Condition, ...]
    then: Effect
    because: str
    source: str
    since: str = "0.5.16"
    until: str | None = None
    reason: RecordedReason | None = None

    def applies_to(self, version: str) -> bool:
        return place(self.since) <= place(version) and (self.until is None or place(version) <= place(self.until))

    def holds(self, request: Request, settings: Settings) -> bool:
        return all(test(request, settings) for test in self.tests)

    @cached_property
    def tests(self) -> Tests:
        return tuple([condition.holds for condition in self.when])


Group = tuple[Test, tuple[tuple[Tests, Rule], ...]]


@dataclass(frozen=True)
class Step:
    """Rules tried in order: each, or (``first``) only until one holds. ``when`` must hold before any is tried."""

    name: str
    rules: tuple[Rule, ...]
    first: bool = False
    when: tuple[Condition, ...] = ()

    @cached_property
    def tests(self) -> Tests:
        return tuple([condition.holds for condition in self.when])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Rules that lie together and share their first condition: where that is not met, no other need be asked."""
        alike = groupby(self.rules, lambda rule: id(rule.when[0]) if rule.when else None)
        return tuple([_group(list(rules)) for _, rules in alike])


def _group(rules: list[Rule]) -> Group:
    """A rule alone is not asked the shared condition again; others are, since the one before may have changed its answer."""
    shared, asked = rules[0].when[:1], len(rules) == 1
    return (shared[0].holds if shared else _always), tuple([(rule.tests[asked:], rule) for rule in rules])


def _always(request: Request, settings: Settings) -> bool:
    return True


def sets(**values: Any) -> Sets:
    return Sets(tuple(values.items()))

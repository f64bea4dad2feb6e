"""SGLang's answer to a scenario, also where it would refuse it, and the way to it in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache

from store.engines.rule_path import RuleStep
from store.scenario import Scenario
from tuner.engines.recorded import reason_here
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolver.changes import with_values
from tuner.engines.sglang.resolver.outcome import Change, Refusal, Resolution
from tuner.engines.sglang.resolver.record import Condition, Rule, Settings, Step
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.steps import STEPS, walked

BACKEND_FIELDS = ("base", "prefill", "decode")
DRAFT_FIELDS = ("draft", "algorithm", "topk", "steps", "draft_tokens", "verify_side")
TOLD = (*BACKEND_FIELDS, *DRAFT_FIELDS, "page_size", "kv_dtype", "radix_cache", "dsa_prefill", "dsa_decode")  # of what is served


class Answer:
    """``resolution``: as if what ``refusals`` name had been let through, so that there is a pick to talk about in any case."""

    def __init__(self, request: Request) -> None:
        self.request, self._walk = request, walked(request)

    @cached_property
    def resolution(self) -> Resolution:
        return self._walk.resolution()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return self._walk.refusals

    @property
    def settings(self) -> Settings:
        """Those of ``resolution``."""
        return self._walk.settings

    def settings_before(self, rule: str) -> Settings:
        """The settings that ``rule`` found."""
        return self._walk.before(rule)


def answer_to(scenario: Scenario, rules_version: str, packages: Mapping[str, str] | None = None) -> Answer:
    return answered(request_for(scenario, rules_version, packages))


@lru_cache(maxsize=64)
def answered(request: Request) -> Answer:
    return Answer(request)


def told(request: Request, backend: str) -> Request:
    """The same server with ``backend`` asked for in both phases."""
    return with_values(request, {"attention_backend": backend, "prefill_attention_backend": None, "decode_attention_backend": None})


def rule_named(name: str) -> Rule:
    return _by_name()[name][1]


def conditions_of(name: str) -> tuple[Condition, ...]:
    """Of a rule, after those of the step it belongs to."""
    step, rule = _by_name()[name]
    return (*step.when, *rule.when)


@cache
def _by_name() -> dict[str, tuple[Step, Rule]]:
    return {rule.id: (step, rule) for step in STEPS for rule in step.rules}


def path_of(answer: Answer, packages: Mapping[str, str] | None = None) -> tuple[RuleStep, ...]:
    """The rules that had a say in what is served, in order, then those that refuse. Graphs and scheduling are left out.

    ``packages``: what recorded reasons are held against, None = nobody has looked.
    """
    changes = [change for change in answer.resolution.changes if change.setting in TOLD]
    effects = {name: _effects(changes, name) for name in dict.fromkeys(change.rule for change in changes)}
    refused = dict.fromkeys((refusal.rule for refusal in answer.refusals), "refused")
    sm = answer.request.machine.sm
    return tuple(_step(name, effect, sm, packages) for name, effect in (effects | refused).items())


def _step(name: str, effect: str, sm: int | None, packages: Mapping[str, str] | None) -> RuleStep:
    rule = rule_named(name)
    held = ", ".join(words_of(conditions_of(name))) or "always"
    return RuleStep(name, held, effect, rule.because, rule.source, reason_here(rule.reason, sm, packages))


def words_of(conditions: tuple[Condition, ...]) -> tuple[str, ...]:
    return tuple(condition.words for condition in conditions)


def _effects(changes: Iterable[Change], rule: str) -> str:
    return ", ".join(in_words(change) for change in changes if change.rule == rule)


def in_words(change: Change) -> str:
    after = change.after if not isinstance(change.after, bool) else "on" if change.after else "off"
    return f"{change.setting.replace('_', ' ')} {'unset' if after is None else after}"

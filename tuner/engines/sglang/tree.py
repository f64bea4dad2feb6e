"""SGLang's default tree and a request's way through it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from store.engines.rule_path import Branch, DefaultTree
from tuner.engines.sglang.resolution import BACKEND_FIELDS, Answer, conditions_of, in_words, words_of
from tuner.engines.sglang.resolver import default_tree
from tuner.engines.sglang.resolver.conditions import MLA
from tuner.engines.sglang.resolver.record import Rule, Sets, Settings
from tuner.engines.sglang.resolver.request import Request

KINDS = {default_tree.WHISPER.words, MLA.words, MLA.negated}  # what sorts models, not machines


@cache
def branches_of(version: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in default_tree.RULES if rule.applies_to(version))


@cache
def place_of(version: str) -> dict[str, int]:
    """Of each branch, by its rule's id."""
    return {rule.id: place for place, rule in enumerate(branches_of(version))}


def backend_of(rule: Rule) -> str:
    assert isinstance(rule.then, Sets)
    return str(dict(rule.then.values)["base"])


def plain_tree(version: str) -> DefaultTree:
    """The tree of a release, walked by nobody."""
    return DefaultTree(version, default_tree.SOURCE, tuple(_branch(rule, None) for rule in branches_of(version)))


def tree_for(answer: Answer) -> DefaultTree:
    """The tree as ``answer``'s request walked through it, or what decided in its place."""
    plain = plain_tree(answer.request.version)
    taken = _taken(answer)
    if taken is None:
        return DefaultTree(plain.rules_version, plain.source, plain.branches, _instead(answer))
    rules = branches_of(answer.request.version)
    place = rules.index(taken)
    states = [False] * place + [True] + [None] * (len(rules) - place - 1)
    return DefaultTree(plain.rules_version, plain.source, tuple(_branch(rule, state) for rule, state in zip(rules, states, strict=True)))


def _branch(rule: Rule, taken: bool | None) -> Branch:
    return Branch(rule.id, words_of(rule.when), backend_of(rule), rule.because, taken)


def _taken(answer: Answer) -> Rule | None:
    held = set(answer.resolution.path)
    return next((rule for rule in branches_of(answer.request.version) if rule.id in held), None)


def _instead(answer: Answer) -> str:
    deciding = [change for change in answer.resolution.changes if change.setting in BACKEND_FIELDS]
    return f"{deciding[0].rule}, {in_words(deciding[0])}," if deciding else f"--attention-backend {answer.request.attention_backend}"


def because(answer: Answer) -> str:
    """How the backends came about: what held -> what it chose, rule by rule; what was written where no rule chose."""
    deciding = [change.rule for change in answer.resolution.changes if change.setting in BACKEND_FIELDS]
    told = [f"{'; '.join(_held(answer, name))} -> {_chosen(answer, name)}" for name in dict.fromkeys(deciding)]
    written = answer.request.attention_backend
    return "; ".join(([f"engine.attention_backend is set to {written}"] if written else []) + told)


def _chosen(answer: Answer, rule: str) -> str:
    changes = [change for change in answer.resolution.changes if change.rule == rule and change.setting in BACKEND_FIELDS]
    if {change.setting for change in changes} == {"base"} or len({change.after for change in changes}) == 1:
        return str(changes[0].after)
    return ", ".join(f"{change.setting} {change.after}" for change in changes)


def _held(answer: Answer, name: str) -> Iterator[str]:
    """The conditions of a rule; before a branch of the tree also what the branches before it missed."""
    rules, place = branches_of(answer.request.version), place_of(answer.request.version).get(name)
    if place is not None:
        settings = answer.settings_before(name)
        missed = [_missed(before, answer.request, settings) for before in rules[:place]]
        own = words_of(rules[place].when)
        yield from dict.fromkeys((own[0], *(word for word in missed if word is not None), *own[1:]))
    else:
        yield from words_of(conditions_of(name)) or ("always",)


def _missed(rule: Rule, request: Request, settings: Settings) -> str | None:
    failing = next(condition for condition in rule.when if not condition.holds(request, settings))
    return None if failing.words in KINDS else failing.negated

"""The engine's default tree as text: every branch, and the way a scenario took through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.wire import to_plain
from reports.json_line import json_line
from store.engines.rule_path import Branch, DefaultTree, RuleStep

WALKED = {True: "yes", False: "no", None: ""}
REST = "anything else"


def render_json(tree: DefaultTree, path: Sequence[RuleStep]) -> str:
    return json_line({"tree": to_plain(tree), "path": [to_plain(step) for step in path]})


def render_text(tree: DefaultTree, path: Sequence[RuleStep], scenario: str) -> str:
    """``scenario`` names the walker; ``path`` holds all rules that led to what the engine serves with."""
    return "\n\n".join([_head(tree, scenario), "\n".join(_drawn(tree)), "\n".join(_steps(path))]) + "\n"


def _head(tree: DefaultTree, scenario: str) -> str:
    asked = "the first branch that holds wins" if tree.instead is None else f"not asked here, since {tree.instead} came before it"
    return f"SGLang {tree.rules_version}'s default tree ({tree.source}), for {scenario}: {asked}"


def kinds(tree: DefaultTree) -> Iterator[tuple[str, tuple[Branch, ...]]]:
    """Branches by the kind of model they are for, "" = one that stands alone."""
    group: list[Branch] = []
    for branch in tree.branches:
        if group and kind_of(group[0]) != kind_of(branch):
            yield kind_of(group[0]), tuple(group)
            group = []
        group.append(branch)
    yield kind_of(group[0]), tuple(group)


def kind_of(branch: Branch) -> str:
    first = branch.conditions[0]
    return first if first in ("MHA model", "MLA model") else ""


def conditions_of(branch: Branch) -> tuple[str, ...]:
    """Without the kind of model; `REST` where that is all there is."""
    own = branch.conditions[1:] if kind_of(branch) else branch.conditions
    return own or (REST,)


def _drawn(tree: DefaultTree) -> Iterator[str]:
    width = max(len(", ".join(conditions_of(branch))) for branch in tree.branches) + 6
    for kind, branches in kinds(tree):
        if kind:
            yield f"       {kind}"
        for branch in branches:
            joint = "" if not kind else "└─ " if branch is branches[-1] else "├─ "
            said = f"{joint}{', '.join(conditions_of(branch))} "
            yield f"  {WALKED[branch.taken]:<3}  {said:.<{width}} {branch.backend}"


def _steps(path: Sequence[RuleStep]) -> Iterator[str]:
    yield "Rules that held, in order"
    yield from (f"  {step.rule}: {step.effect}, if {step.condition}" for step in path)

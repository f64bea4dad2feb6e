"""The rules as records: whole, named once, with a reason and a place where SGLang says so."""

from __future__ import annotations

import re
import string
from dataclasses import fields

import pytest

from tuner.engines.sglang.resolver.record import Computes, Refuses, Rule, Sets, Settings
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.steps import STEPS, rules, steps_for
from tuner.engines.sglang.resolver.versions import READ, nearest, place

SETTINGS = {field.name for field in fields(Settings)}
NAMED = {"r": {field.name for field in fields(Request)}, "s": SETTINGS | {"prefill_side", "decode_side"}}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_is_whole(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9.-]+\.[a-z0-9.-]+", rule.id)
    assert rule.because.endswith(".") and rule.because.count(". ") == 0, "a reason is one sentence"
    assert re.match(r"sglang/srt/[\w/]+\.py(, [\w.]+)*", rule.source)
    assert rule.since in READ and (rule.until is None or rule.until in READ)
    assert any(rule.applies_to(version) for version in READ)
    assert all(condition.words for condition in rule.when)


@pytest.mark.parametrize("rule", [rule for rule in rules() if isinstance(rule.then, Refuses)], ids=lambda rule: rule.id)
def test_a_refusal_is_one_sentence_that_says_what_to_do(rule: Rule) -> None:
    assert isinstance(rule.then, Refuses)
    text = rule.then.text
    assert not text.endswith(".") and ". " not in text
    for _, name, _, _ in string.Formatter().parse(text):
        if name is not None:
            record, _, field = name.partition(".")
            assert field.split(".")[0] in {*NAMED[record], "model"}


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in rules()]
    assert len(ids) == len(set(ids)) > 400


def test_what_a_rule_sets_is_a_setting() -> None:
    for rule in rules():
        if isinstance(rule.then, Sets):
            assert {name for name, _ in rule.then.values} <= SETTINGS
        assert isinstance(rule.then, Computes | Sets | Refuses)


def test_ranges_leave_each_release_its_rules() -> None:
    kept = {version: {rule.id for step in steps_for(version) for rule in step.rules} for version in READ}
    assert "compat.page-cutlass-mla" in kept["0.5.16"] - kept["0.5.22"]
    assert "default.mha.sm100-widths" in kept["0.5.22"] - kept["0.5.16"]
    assert "names.tokenspeed" in kept["0.5.23"] - kept["0.5.22"]
    assert set().union(*kept.values()) == {rule.id for rule in rules()}


def test_steps_have_names_of_their_own() -> None:
    names = [step.name for step in STEPS]
    assert len(names) == len(set(names))


def test_the_nearest_release_that_was_read_stands_for_any_other() -> None:
    assert [nearest(version) for version in ("0.5.9", "0.5.18", "0.5.19", "0.5.23", "0.6.0", "0.5.22.post1")] == [
        *("0.5.16", "0.5.16", "0.5.22", "0.5.23", "0.5.23", "0.5.22")
    ]
    assert place("0.5.9") < place("0.5.16") < place("0.6.0")

"""Leaving out rules that cannot hold changes no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engine.asked.scenarios import scenarios
from tests.tuner.engines.sglang.resolver.test_resolve import H100, LLAMA, request
from tuner.engines.sglang.resolver.changes import with_values
from tuner.engines.sglang.resolver.conditions import ATTN_DP, MLA, PAGE_UNSET, ROCM, architecture, no
from tuner.engines.sglang.resolver.narrowing import SWITCHES, Likeness, OpenStep, kind_of, narrowed, opened, written_in
from tuner.engines.sglang.resolver.record import Condition, Rule, Settings, Step, sets
from tuner.engines.sglang.resolver.request import Graphs, Machine, Request
from tuner.engines.sglang.resolver.start import settings_of
from tuner.engines.sglang.resolver.steps import rules, steps_for, steps_like
from tuner.engines.sglang.resolver.versions import READ
from tuner.engines.sglang.resolver.walk import Walk, walk

RULES = len(rules())


def told(way: Walk) -> tuple[Settings, object, object]:
    return way.settings, way.resolution(), way.refusals


@pytest.mark.parametrize("version", READ)
def test_the_rules_that_are_left_say_what_all_rules_say(version: str) -> None:
    for asked in (scenario.request for scenario in scenarios(version, 150, seed=3)):
        assert told(walk(steps_like(asked), asked)) == told(walk(steps_for(version), asked)), asked
        some = frozenset(walk(steps_like(asked), asked).resolution().path[:1])
        assert told(walk(steps_like(asked), asked, some)) == told(walk(steps_for(version), asked, some)), asked


@pytest.mark.parametrize("version", READ)
def test_a_plain_request_is_asked_a_third_of_the_rules(version: str) -> None:
    left = sum(len(step.rules) for step in steps_like(request(version=version)))
    assert left < sum(len(step.rules) for step in steps_for(version)) / 3 < RULES


def left_of(*conditions: Condition, machine: Machine = H100, **written: object) -> bool:
    """Whether a rule with these conditions may hold."""
    asked = replace(request(machine, LLAMA), **written)  # type: ignore[arg-type]
    steps = opened([Step("made up", (Rule("made.up", conditions, sets(page_size=1), "It is made up.", "made up"),))], likeness(asked))
    of_model = list(narrowed(steps, Likeness(asked.version, asked.machine.kind, kind_of(asked.model))))
    return any(step.possible(written_in(asked)) is not None for step in of_model)


def likeness(asked: Request) -> Likeness:
    return Likeness(asked.version, asked.machine.kind)


def test_a_rule_for_another_device_model_or_switch_is_left_out() -> None:
    assert not left_of(ROCM) and left_of(ROCM, machine=Machine("rocm"))
    assert not left_of(architecture("GptOssForCausalLM")) and not left_of(MLA) and left_of(no(MLA))
    assert not left_of(ATTN_DP) and left_of(ATTN_DP, attn_dp=2)


def test_a_condition_that_reads_anything_else_is_left_open() -> None:
    assert left_of(PAGE_UNSET, page_size=64) and left_of(no(PAGE_UNSET))
    memory = Condition("much memory", lambda r, s: (r.machine.memory_mib or 0) > 10**9)
    assert left_of(memory) and left_of(Condition("long", lambda r, s: r.model.context_length > 10**9))


def test_one_written_switch_of_those_a_condition_reads_opens_it_again() -> None:
    either = Condition("either", lambda r, s: r.unified_memory or r.kv_sharding)
    assert not left_of(either) and not left_of(either, attn_dp=2)
    assert left_of(either, kv_sharding=True) and left_of(either, unified_memory=True)


def test_a_step_whose_own_conditions_are_not_met_is_left_out_whole() -> None:
    step = Step("made up", (Rule("made.up", (), sets(page_size=1), "It is made up.", "made up"),), when=(ROCM,))
    assert not list(opened([step], Likeness("0.5.22", "cuda")))
    [found] = opened([step], Likeness("0.5.22", "rocm"))
    assert isinstance(found, OpenStep) and found.possible(frozenset()) is step


def test_switches_are_told_by_their_values() -> None:
    assert written_in(request()) == frozenset() == written_in(request(graphs=Graphs()))
    assert written_in(request(graphs=Graphs(off=True), dcp=2, page_size=64)) == {"graphs", "dcp"}
    assert len(set(SWITCHES)) == len(SWITCHES)


def test_other_values_make_the_record_that_replace_makes() -> None:
    before = settings_of(request(page_size=16))
    assert with_values(before, {"page_size": 64, "base": "fa3"}) == replace(before, page_size=64, base="fa3")
    assert before == settings_of(request(page_size=16))

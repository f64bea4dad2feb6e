"""Servers of one phase: one side of a prefill/decode disaggregation. Nothing is measured or said of the other side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Phase
from backends.wire import from_plain, to_plain
from reports.plan import render_text
from reports.run_report import render_markdown
from store.decision import Decision, Pair, Ruling
from store.plan import Plan
from store.runs.run import DefaultPick, Run
from store.scenario import Role, Scenario
from tests.asking import entries, undriven
from tests.tuner.building import DECODE, ENGINE, PREFILL, Recipe, arm, build, decode, prefill
from tests.tuner.scenarios import B200, GPT_OSS, engine, scenario
from tuner.decide import decide
from tuner.engines.sglang.pick import pin_flags
from tuner.errors import UsageError
from tuner.plan import plan_of
from tuner.settings import compose

SIDES = (Role.PREFILL, Role.DECODE)
ALL = tuple(entries().values())
FA3 = DefaultPick("fa3", "fa3", 1, "bfloat16", "made up", "0.5.22")


def planned(role: Role, **changes: Any) -> Plan:
    return plan_of(scenario(role=role, **changes), ALL)


def measured(role: Role) -> Run:
    """flashinfer halves the one phase there is."""
    cell, name = (decode(), DECODE) if role is Role.DECODE else (prefill(), PREFILL)
    arms = (arm("fa3"), arm("flashinfer"))
    times = {(one.name, name): us for one, us in zip(arms, (5000, 2500), strict=True)}
    return build(Recipe(arms, times, cells=(cell,), engine=replace(ENGINE, role=role)))


def decided(role: Role) -> Decision:
    return decide(measured(role))


@pytest.mark.parametrize("role", SIDES)
def test_only_its_phase_has_cells_whose_shares_sum_to_one(role: Role) -> None:
    cells = planned(role).cells
    assert {weighted.cell.phase for weighted in cells} == {Phase(role.value)}
    assert sum(weighted.token_share for weighted in cells) == pytest.approx(1.0)


def test_both_phases_have_the_cells_they_have_alone() -> None:
    names = {role: [weighted.cell for weighted in planned(role).cells if not weighted.is_guard] for role in Role}
    assert names[Role.UNIFIED] == names[Role.DECODE] + names[Role.PREFILL]


def test_a_server_that_only_fills_prompts_captures_no_decode_graphs_and_reserves_nothing_for_them() -> None:
    alone, both = (planned(role).server for role in (Role.PREFILL, Role.UNIFIED))
    assert alone.captured_batches == () and both.captured_batches
    assert alone.pool_tokens is not None and both.pool_tokens is not None and alone.pool_tokens >= both.pool_tokens


@pytest.mark.parametrize("role", SIDES)
def test_the_default_is_the_backend_of_its_phase(role: Role) -> None:
    split = {"prefill_attention_backend": "fa3", "decode_attention_backend": "flashinfer"}
    default, alone = planned(role, **split).default, split[f"{role.value}_attention_backend"]
    assert (default.prefill, default.decode) == (alone, alone)


@pytest.mark.parametrize("role", SIDES)
def test_the_plan_and_the_report_say_nothing_of_the_other_phase(role: Role) -> None:
    run, other = measured(role), "prefill" if role is Role.DECODE else "decode"
    said = (render_text(planned(role, backends=("fa3", "flashinfer", "triton"))), render_markdown(replace(run, decision=decide(run))))
    assert [line for text in said for line in text.splitlines() if other in line] == []


def test_a_default_that_cannot_be_measured_is_announced_for_its_phase_alone() -> None:
    said = plan_of(scenario(role=Role.DECODE, board=B200), undriven("trtllm_mha")).fatal
    assert said[-1] == "the default trtllm_mha cannot be measured in decode: a run would end incomplete and pin nothing"
    assert not any("prefill" in line for line in said)


@pytest.mark.parametrize("role", SIDES)
def test_a_default_that_stays_is_compared_in_its_phase_without_a_word_on_phases(role: Role) -> None:
    cell, name = (decode(), DECODE) if role is Role.DECODE else (prefill(), PREFILL)
    arms = (arm("fa3"), arm("flashinfer"))
    times = {(one.name, name): us for one, us in zip(arms, (2500, 5000), strict=True)}
    found = decide(build(Recipe(arms, times, cells=(cell,), engine=replace(ENGINE, role=role))))
    assert "no arm beat the default: with flashinfer a step is at least " in str(found.unset_because)


@pytest.mark.parametrize("role", SIDES)
def test_the_pin_has_one_flag_and_no_word_on_the_other_phase(role: Role) -> None:
    decision = decided(role)
    other = "prefill" if role is Role.DECODE else "decode"
    assert decision.ruling is Ruling.SWITCH
    assert decision.flags == ((f"{role.value}-attention-backend", "flashinfer"),)
    assert other not in " ".join((*dict(decision.because).values(), decision.unset_because or "", *decision.cautions))


@pytest.mark.parametrize("role", SIDES)
def test_an_arm_is_its_own_partner(role: Role) -> None:
    assert all(score.pair.prefill == score.pair.decode for score in decided(role).scores)


def test_a_model_whose_check_reads_both_sides_gets_the_flag_for_both() -> None:
    flags = [pin_flags(Pair("triton", "triton"), FA3, 1, engine(role=Role.DECODE), name) for name in ("", GPT_OSS.architecture)]
    assert flags == [(("decode-attention-backend", "triton"),), (("attention-backend", "triton"),)]


@pytest.mark.parametrize(("role", "objective"), [("decode", "ttft"), ("prefill", "tpot")])
def test_an_objective_of_the_other_phase_is_refused(role: str, objective: str) -> None:
    with pytest.raises(UsageError, match=f"decide.objective={objective} counts nothing on a server with engine.role={role}"):
        compose([f"engine.role={role}", f"decide.objective={objective}"])


def test_a_role_travels_and_evidence_from_before_there_were_roles_is_unified() -> None:
    case = scenario(role=Role.DECODE, attn_dp_size=2)
    assert from_plain(Scenario, to_plain(case)) == case
    old = to_plain(scenario())
    for name in ("role", "attn_dp_size", "attn_cp_size", "dcp_size"):
        del old["engine"][name]
    assert from_plain(Scenario, old) == scenario()

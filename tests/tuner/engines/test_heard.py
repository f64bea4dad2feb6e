"""What becomes of a plan when the engine itself says the same as the rules, something else, that it refuses, or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Phase
from backends.engine_says import EngineSays, Raised
from backends.wire import from_plain, to_plain
from reports.asked import lines
from store.engines.asked import Difference, EngineAnswer
from store.plan import Plan
from store.runs.run import DefaultPick
from store.scenario import Role, Scenario
from tests.asking import entries
from tests.tuner.scenarios import DSV3, GPT_OSS, H100, LLAMA, scenario
from tuner.engines.heard import Consulted
from tuner.new_run import default_arms
from tuner.plan import plan_of

ALL = tuple(entries().values())
FA3 = {"prefill": "fa3", "decode": "fa3", "page_size": 1, "kv_dtype": "auto"}


def said(consulted: EngineSays | None, asked: Scenario | None = None, version: str = "0.5.22", simulated: str | None = "H100") -> Plan:
    """The plan of a scenario, plain unless a test says otherwise, whose engine says so."""
    asked = asked or scenario(H100, LLAMA)
    asked = replace(asked, engine=replace(asked.engine, version=version))
    return plan_of(asked, ALL, None, None if consulted is None else Consulted(version, simulated, consulted))


def resolved(**changes: Any) -> EngineSays:
    return EngineSays(resolved={**FA3, **changes})


def raised(kind: str, text: str = "not on this GPU") -> EngineSays:
    return EngineSays(raised=Raised(kind, text, "check of server_args.py"))


def answer(plan: Plan) -> EngineAnswer:
    assert plan.default.asked is not None
    return plan.default.asked


def unlike(plan: Plan) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.what, one.engine, one.rules) for one in answer(plan).differences)


def test_an_engine_that_says_the_same_is_named_and_the_rules_explain_it() -> None:
    by_rules, plan = said(None), said(resolved())
    assert answer(plan) == EngineAnswer("0.5.22", "H100", "fa3", "fa3", 1, "bfloat16")
    assert plan.default.because == (
        f"SGLang 0.5.22 itself answered (simulated H100), and attnpin's rules agree: {by_rules.default.because}"
    )
    assert replace(plan, default=by_rules.default, beforehand=by_rules.beforehand) == by_rules


def test_what_the_engine_says_is_what_is_measured_as_the_default() -> None:
    plan = said(resolved(prefill="flashinfer", decode="triton", page_size=64))
    assert (plan.default.prefill, plan.default.decode, plan.default.page_size) == ("flashinfer", "triton", 64)
    assert unlike(plan) == (("prefill", "flashinfer", "fa3"), ("decode", "triton", "fa3"), ("page size", "64", "1"))
    assert default_arms(plan.default, plan.arms) == {Phase.PREFILL: "flashinfer/p64", Phase.DECODE: "triton/p64"}
    assert "attnpin's rules do not explain it; by them: " in plan.default.because


def test_the_engines_kv_dtype_is_the_one_that_limits_are_asked_about() -> None:
    plain, plan = said(resolved()), said(resolved(kv_dtype="fp8_e4m3"))
    assert unlike(plan) == (("KV dtype", "float8_e4m3fn", "bfloat16"),)
    assert "float8_e4m3fn" in asked_of(plan) and "float8_e4m3fn" not in asked_of(plain)


def asked_of(plan: Plan) -> str:
    return " ".join(reason.asked for exclusion in plan.exclusions for reason in exclusion.reasons)


def test_a_name_is_the_one_of_its_entry_and_a_server_of_one_phase_has_one() -> None:
    sparse = scenario(H100, replace(DSV3, architecture="DeepseekV32ForCausalLM"), tensor_parallel=8, role=Role.DECODE)
    plan = said(resolved(prefill="fa3", decode="nsa", page_size=64), sparse)
    assert (plan.default.prefill, plan.default.decode) == ("dsa", "dsa")


def test_an_engine_that_refuses_is_quoted_beside_the_rules() -> None:
    asked = scenario(H100, LLAMA, attention_backend="trtllm_mla")
    by_rules, plan = said(None, asked), said(raised("ValueError", "TRTLLM MLA\n  is only supported on Blackwell"), asked)
    quoted = 'SGLang 0.5.22 itself would not start with these settings: "TRTLLM MLA is only supported on Blackwell"'
    assert plan.fatal == (quoted, *by_rules.fatal) and plan.refused == quoted
    assert (answer(plan).refusal, unlike(plan)) == ("TRTLLM MLA is only supported on Blackwell", ())
    assert plan.default == replace(by_rules.default, asked=answer(plan))


def test_a_refusal_that_the_rules_do_not_know_counts_all_the_same() -> None:
    plan = said(raised("AssertionError", ""))
    assert unlike(plan) == (("start", "refused", "allowed"),)
    assert answer(plan).refusal == "AssertionError in check of server_args.py"
    assert plan.refused is not None and answer(plan).refusal in plan.refused


def test_an_engine_that_starts_where_the_rules_refuse_is_believed() -> None:
    asked = scenario(H100, GPT_OSS, decode_attention_backend="triton")
    by_rules, plan = said(None, asked), said(resolved(decode="triton"), asked)
    assert by_rules.refused is not None and plan.refused is None
    assert not [sentence for sentence in plan.fatal if "would not start" in sentence]
    assert unlike(plan) == (("start", "allowed", f"refused ({by_rules.refused})"),)


def test_a_fault_of_its_own_code_is_a_refusal_only_where_the_rules_refuse_too() -> None:
    """SGLang meets some command lines with a TypeError, but so it may a question that was put badly."""
    refused = scenario(H100, GPT_OSS, decode_attention_backend="triton")
    assert answer(said(raised("TypeError"), refused)).refusal == "not on this GPU"
    assert answer(said(raised("TypeError"))).failure == "its argument resolution failed: not on this GPU"


def test_without_an_answer_the_rules_stand_and_a_warning_says_why() -> None:
    by_rules, plan = said(None), said(EngineSays(failure="it resolves its arguments in a way that attnpin does not know"))
    assert plan.default == replace(by_rules.default, asked=answer(plan))
    (warning,) = lines(answer(plan), "sglang")
    assert warning in plan.notes
    assert warning == (
        "SGLang 0.5.22 could not be asked (it resolves its arguments in a way that attnpin does not know): attnpin's rules answered"
    )


def test_an_unread_release_answers_for_itself_and_the_nearest_rules_do_the_rest() -> None:
    plan = said(resolved(page_size=64), version="0.5.30")
    assert (plan.default.rules_version, plan.default.page_size) == ("0.5.30", 64)
    assert "no rules of SGLang 0.5.30 are known; those of 0.5.23, the nearest, were applied" in plan.notes
    nearest = said(resolved(page_size=64), version="0.5.23")
    assert (plan.arms, plan.server) == (nearest.arms, nearest.server)
    assert [one.backend for one in plan.exclusions] == [one.backend for one in nearest.exclusions]


def test_a_backend_that_nobody_here_knows_is_said_to_be_unmeasurable() -> None:
    plan = said(resolved(prefill="fa5", decode="fa5"))
    assert "the default fa5 cannot be measured in decode: a run would end incomplete and pin nothing" in plan.fatal


def test_an_engine_on_the_workers_own_machine_is_not_called_simulated() -> None:
    plan = said(resolved(), simulated=None)
    assert "(on the worker's own machine)" in plan.default.because
    assert lines(answer(plan), "sglang")[0].startswith("SGLang 0.5.22 itself was asked (on the worker's own machine): prefill fa3")


def test_an_answer_is_read_back_as_it_was_stored_and_old_picks_have_none() -> None:
    default = said(resolved(page_size=64)).default
    assert from_plain(DefaultPick, to_plain(default)) == default
    old = {name: value for name, value in to_plain(default).items() if name != "asked"}
    assert from_plain(DefaultPick, old).asked is None


def test_an_answer_cannot_be_two_things() -> None:
    with pytest.raises(ValueError, match="or refuses, or could not be asked"):
        EngineAnswer("0.5.22", refusal="no", failure="nobody there")
    with pytest.raises(ValueError, match="or refuses, or could not be asked"):
        EngineAnswer("0.5.22", differences=(Difference("page size", "64", "1"),))

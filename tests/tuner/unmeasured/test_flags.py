from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.engine_says import EngineSays, Raised
from store.verdicts.verdict import FlagsNow, Served
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, pinned
from tuner.engines.heard import Consulted
from tuner.errors import UsageError
from tuner.unmeasured.flags import Case, flags_by_engine, flags_by_rules, pinned_scenario

PINNED = pinned()
SERVED = Served("fa3", "flashinfer", 1, "bfloat16")


def case(of: Pinned, **versions: str | None) -> Case:
    return Case(of.pin, of.run, of.now(of.with_(**versions)))


def by_rules(of: Pinned = PINNED, **versions: str | None) -> FlagsNow:
    return flags_by_rules(case(of, **versions))


def by_engine(says: EngineSays, version: str | None = "0.5.99", of: Pinned = PINNED, gpu: str | None = "NVIDIA H200") -> FlagsNow:
    return flags_by_engine(case(of, sglang="0.5.22"), Consulted(version, gpu, says))


def resolved(prefill: str = "fa3", decode: str = "flashinfer", page_size: int = 1, kv_dtype: str = "auto") -> EngineSays:
    return EngineSays(resolved={"prefill": prefill, "decode": decode, "page_size": page_size, "kv_dtype": kv_dtype})


def with_flags(of: Pinned, *flags: tuple[str, str]) -> Pinned:
    return replace(of, pin=replace(of.pin, flags=flags))


@pytest.mark.parametrize("version", ["0.5.16", "0.5.22", "0.5.23", "0.5.23+cu130"])
def test_flags_that_mean_the_same_to_a_release_whose_rules_are_known_hold(version: str) -> None:
    flags = by_rules(sglang=version)
    assert flags == FlagsNow(f"attnpin's rules for SGLang {version.partition('+')[0]}", SERVED, now=SERVED)
    assert flags.hold


@pytest.mark.parametrize("version", ["0.5.8", "0.5.20", "0.6.0", "0.5.23.dev1", "0.5.23rc1"])
def test_another_release_is_not_guessed_at(version: str) -> None:
    flags = by_rules(sglang=version)
    assert flags.unknown == f"not to be told, since its rules were read in SGLang 0.5.16, 0.5.22, 0.5.23, not in {version}"
    assert flags.hold


@pytest.mark.parametrize("written", ["from github.com/sgl-project/sglang at abc123", "0.5.16, from a folder", "a-fork"])
def test_what_is_no_release_is_told_as_the_list_tells_it(written: str) -> None:
    asked = case(PINNED)
    other = tuple(replace(each, version=written) if each.name == "sglang" else each for each in asked.now.distributions)
    flags = flags_by_rules(replace(asked, now=replace(asked.now, distributions=other)))
    assert str(flags.unknown).endswith(f"SGLang 0.5.16, 0.5.22, 0.5.23, not in what is there ({written})")


def test_without_the_engine_in_the_list_nobody_can_say() -> None:
    assert by_rules(sglang=None).unknown == "not to be told, since no SGLang is installed there"


def test_a_flag_that_a_release_no_longer_takes_is_refused() -> None:
    """It went after 0.5.16."""
    gone = with_flags(PINNED, ("attention-backend", "dual_chunk_flash_attn"))
    pair = Served("dual_chunk_flash_attn", "dual_chunk_flash_attn", 1, "bfloat16")
    run = replace(gone.run, arms=tuple(replace(arm, backend="dual_chunk_flash_attn") for arm in gone.run.arms))
    names = {old.name: new.name for old, new in zip(gone.run.arms, run.arms)}
    assert run.decision is not None and run.decision.pick is not None
    pick = replace(run.decision.pick, prefill=names[run.decision.pick.prefill], decode=names[run.decision.pick.decode])
    gone = replace(gone, run=replace(run, decision=replace(run.decision, pick=pick)))
    flags = by_rules(gone, sglang="0.5.23")
    assert flags.pinned == pair and flags.refusal is not None and "dual_chunk_flash_attn" in flags.refusal
    assert not flags.hold


def test_rules_that_do_not_explain_what_was_pinned_foretell_nothing() -> None:
    odd = replace(PINNED, pin=replace(PINNED.pin, valid_for=replace(PINNED.pin.valid_for, page_size=16)))
    assert by_rules(odd, sglang="0.5.22").unknown == "not to be told from rules: attnpin's rules do not explain what SGLang 0.5.16 served"


def test_without_flags_it_is_the_engines_own_choice_that_is_compared() -> None:
    assert by_rules(pinned(FA3_STAYS), sglang="0.5.22").now == Served("fa3", "fa3", 1, "bfloat16")


def test_flags_stand_in_the_place_of_what_was_chosen_in_the_scenario() -> None:
    engine = replace(PINNED.run.scenario.engine, attention_backend="triton", page_size=64)
    of = replace(PINNED, run=replace(PINNED.run, scenario=replace(PINNED.run.scenario, engine=engine)))
    asked = pinned_scenario(case(with_flags(of, ("attention-backend", "fa4"), ("page-size", "128"))), "0.5.22").engine
    assert (asked.attention_backend, asked.page_size, asked.version) == ("fa4", 128, "0.5.22")
    assert pinned_scenario(case(with_flags(of)), "0.5.22").engine.page_size is None


@pytest.mark.parametrize("flag", [("mem-fraction-static", "0.9"), ("page-size", "many")])
def test_a_flag_that_somebody_wrote_into_a_pin_is_named(flag: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=f"sets --{flag[0]} {flag[1]}, which attnpin does not; write it again with attnpin tune"):
        case(with_flags(PINNED, flag))


def test_the_engines_own_word_is_labelled_with_its_release_and_the_gpu_it_was_made_to_believe_in() -> None:
    assert by_engine(resolved()) == FlagsNow("SGLang 0.5.99 itself (simulated NVIDIA H200)", SERVED, now=SERVED)
    assert by_engine(resolved(), gpu=None).by == "SGLang 0.5.99 itself (on the worker's own machine)"


@pytest.mark.parametrize("changes", [{"decode": "fa3"}, {"prefill": "flashinfer"}, {"page_size": 64}, {"kv_dtype": "fp8_e4m3"}])
def test_whatever_the_engine_makes_otherwise_does_not_hold(changes: dict[str, Any]) -> None:
    flags = by_engine(resolved(**changes))
    assert not flags.hold and flags.now != SERVED


def test_a_refusal_is_told_in_the_engines_words() -> None:
    flags = by_engine(EngineSays(raised=Raised("argparse", "invalid choice: 'flashinfer'", "the parser")))
    assert (flags.refusal, flags.hold) == ("invalid choice: 'flashinfer'", False)


def test_an_engine_that_gives_no_answer_leaves_it_to_the_rules_and_that_is_said() -> None:
    flags = by_engine(EngineSays(failure="it gave no answer within 110 s"))
    assert flags.now == SERVED
    assert flags.by == "attnpin's rules for SGLang 0.5.22; SGLang itself was not asked: it gave no answer within 110 s"


def test_an_engine_that_names_a_backend_by_another_name_is_understood() -> None:
    of = with_flags(PINNED, ("attention-backend", "dsa"))
    assert by_engine(resolved("nsa", "nsa"), of=of).now == Served("dsa", "dsa", 1, "bfloat16")

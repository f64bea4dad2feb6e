"""Knobs of the arms that are picked: which pairs one server gives both, and how it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Arm, Provider
from backends.cell import Phase
from store.decision import Pair
from store.runs.run import Run
from store.search import Fate, Search, Searched, SearchKind, Tried
from tests.tuner.building import DECODE, PREFILL, Recipe, arm, build
from tuner.decide import decide
from tuner.deciding.knob_flags import knob_flags, knob_variables, unpinnable
from tuner.deciding.pairs import pairs_of
from tuner.deciding.table import table_of
from tuner.engines.lookup import choices_of
from tuner.exporting.launchers import load_launchers
from tuner.new_run import default_arms
from tuner.settings import compose_backends

SPLITS, CORES = ("triton_attention_num_kv_splits", "16"), ("SGLANG_FLASHINFER_USE_TENSOR_CORE", "true")
TURNED, CORED = replace(arm("triton"), knobs=(SPLITS,)), replace(arm("flashinfer"), knobs=(CORES,))


def run(*arms: Arm, times: dict[str, tuple[float, float]] | None = None, **changes: object) -> Run:
    """(prefill us, decode us) by arm, else 100 each."""
    us = {each.name: (times or {}).get(each.name, (100.0, 100.0)) for each in arms}
    table = {(name, cell): value for name, both in us.items() for cell, value in zip((PREFILL, DECODE), both)}
    return build(Recipe(arms, table, **changes))  # type: ignore[arg-type]


def test_one_server_gives_both_phases_of_a_backend_the_same_knobs() -> None:
    found = pairs_of(table_of(run(arm("fa3"), arm("triton"), TURNED)))
    names = {arm("triton").name, TURNED.name}
    assert {pair for pair in found if {pair.prefill, pair.decode} <= names} == {Pair(name, name) for name in names}
    assert Pair("fa3/p1", TURNED.name) in found


def test_two_backends_may_each_have_their_own() -> None:
    made = run(arm("fa3"), TURNED, CORED)
    pair = Pair(CORED.name, TURNED.name)
    assert pair in pairs_of(table_of(made))
    assert knob_flags(table_of(made), pair) == (("triton-attention-num-kv-splits", "16"),)
    assert knob_variables(table_of(made), pair) == (CORES,)


def test_a_knob_is_pinned_by_the_rule_of_a_backend_with_its_flag_and_what_the_screen_saw() -> None:
    record = tuple(
        Tried(name, Phase.DECODE, fate, ratio, 8, 1.0)
        for name, fate, ratio in (("triton/p1", Fate.PRUNED, 1.2), (TURNED.name, Fate.FINALIST, 0.4))
    )
    made = run(arm("fa3"), TURNED, times={"fa3/p1": (200.0, 250.0), TURNED.name: (200.0, 100.0)})
    searched = Searched(Search(SearchKind.EXHAUSTIVE, 32, 8, 2, 0.1), 2, 2.0, record)
    found = decide(replace(made, searched=searched))
    assert dict(found.flags)["triton-attention-num-kv-splits"] == "16"
    assert "took 3.000 times as long in the screen" in dict(found.because)["triton-attention-num-kv-splits"]


def test_a_variable_stands_beside_the_backend_that_reads_it_also_where_that_is_the_default() -> None:
    turned = replace(arm("fa3"), knobs=(("SGLANG_SOMETHING", "1"),))
    found = decide(run(arm("fa3"), turned, times={"fa3/p1": (200.0, 250.0), turned.name: (150.0, 100.0)}))
    assert found.flags == (("attention-backend", "fa3"),) and found.variables == (("SGLANG_SOMETHING", "1"),)
    assert set(dict(found.because)) == {"attention-backend", "SGLANG_SOMETHING"}


def test_of_arms_that_are_tied_the_one_with_fewer_knobs_is_picked() -> None:
    more = replace(arm("triton"), knobs=(("SGLANG_TRITON_DECODE_ATTN_STATIC_KV_SPLITS", "true"), SPLITS))
    times = {"fa3/p1": (200.0, 250.0), TURNED.name: (200.0, 100.0), more.name: (200.0, 99.9)}
    found = decide(run(arm("fa3"), more, TURNED, times=times))
    assert found.pick is not None and found.pick.decode == TURNED.name


@pytest.mark.parametrize("knob", [("triton_attention_reduce_in_fp32", "false"), ("no_such_knob", "1")])
def test_a_setting_that_no_flag_gives_is_measured_and_not_pinned(knob: tuple[str, str]) -> None:
    other = replace(arm("triton"), knobs=(knob,))
    made = run(arm("fa3"), other)
    assert f"{knob[0]}={knob[1]} of {other.name}" in str(unpinnable(made, table_of(made), Pair("fa3/p1", other.name)))


def test_knobs_of_a_kernel_adapter_are_its_own_and_not_the_server_s() -> None:
    plain = arm("flashinfer", provider=Provider.KERNEL)
    turned = replace(plain, knobs=(("decode_backend", "auto"),))
    made = run(arm("fa3"), plain, turned)
    assert unpinnable(made, table_of(made), Pair("fa3/p1", plain.name)) is None
    assert unpinnable(made, table_of(made), Pair("fa3/p1", turned.name))


def test_the_default_is_the_arm_without_knobs_wherever_it_stands() -> None:
    made = run(replace(arm("fa3"), knobs=(("a", "1"),)), arm("fa3"), replace(arm("fa3"), knobs=(("b", "1"),)))
    assert set(default_arms(made.default, made.arms).values()) == {"fa3/p1"}


def test_every_knob_that_is_searched_can_be_pinned_and_exported() -> None:
    flags, choices = load_launchers()["sglang"], choices_of("sglang")
    drivers = [driver for entry in compose_backends(()).entries for driver in entry.drivers if driver.provider is Provider.ENGINE]
    searched = {knob.name.replace("_", "-") for driver in drivers for knob in driver.knobs if knob.search and not knob.name.isupper()}
    assert searched and searched <= set(choices.options) & set(flags.flags)
    assert set(choices.switches) == set(flags.switches) <= set(choices.options)

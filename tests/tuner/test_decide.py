"""Decisions on constructed runs: who wins, by how much, and what is written beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Provider
from backends.gpu import Gpu
from backends.outcome import Outcome
from backends.reason import Reason
from backends.serving_jit import Builds, ServingJit
from store.decision import Pair, Ruling
from store.engines.serving_terms import ServingTerms
from store.scenario import Exclusion, Objective
from tests.tuner.building import DECIDE, DECODE, ENGINE, H200, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tests.tuner.racing.playing import play, started
from tuner.decide import decide

FA3, FLASHINFER, TRITON = "fa3/p1", "flashinfer/p1", "triton/p1"
CPU = Gpu("x86 CPU", "cpu", None, None, None, None, None, None, None, None, "not seen")


def test_one_backend_that_wins_both_phases_is_pinned_for_both() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (400, 35)}))
    assert found.ruling is Ruling.SWITCH
    assert (found.default, found.pick) == (Pair(FA3, FA3), Pair(FLASHINFER, FLASHINFER))
    assert "flashinfer" in dict(found.flags).values()
    assert "fa3" not in dict(found.flags).values()
    assert set(dict(found.because)) == set(dict(found.flags))
    assert found.unset_because is None


def test_each_phase_gets_its_own_winner_on_an_h20_under_decode_heavy_load() -> None:
    """SGLang issue 5630: on an H20 fa3 wins prefill 1.3 times and flashinfer decode 2.8 times."""
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35)}))
    assert found.ruling is Ruling.SWITCH
    flags, because = dict(found.flags), dict(found.because)
    assert flags["prefill-attention-backend"] == "fa3"
    assert flags["decode-attention-backend"] == "flashinfer"
    assert "flashinfer takes 1.3 times that (1." in because["prefill-attention-backend"]
    assert "fa3 takes 2.8 times that (2." in because["decode-attention-backend"]


def test_every_reason_is_one_line_beside_its_flag() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "a_backend_with_a_very_long_name_indeed": (722, 35)}))
    assert found.because
    assert all(len(text) <= 160 and "\n" not in text and " ms of attention" in text for _, text in found.because)


def test_a_tie_keeps_the_default() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (554.3, 98.05)}, process_sd=0.0005))
    assert (found.ruling, found.pick, found.flags) == (Ruling.KEEP, Pair(FA3, FA3), ())
    assert Pair(FLASHINFER, FLASHINFER) in found.tie_set
    assert found.unset_because and "a step is at most" in found.unset_because


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({"fa3": (554, 98), "flashinfer": (554.3, 98.05)}, "with the nearest, "),
        ({"fa3": (5, 1), "flashinfer": (2, 0.5)}, "with the best arm, "),
    ],
)
def test_only_an_arm_that_is_surely_faster_is_called_the_best(times: dict[str, tuple[float, float]], said: str) -> None:
    found = decide(one_cell_each(times, process_sd=0.0005))
    rivals = [score for score in found.scores if score.pair != found.default]
    named = max(rivals, key=lambda score: score.step_gain_high or 0.0)
    assert found.ruling is Ruling.KEEP and named.step_gain_low is not None and found.unset_because is not None
    assert found.unset_because.startswith(f"unset, because {said}")
    assert (named.step_gain_low > 0) is ("best" in said) is ("faster, if at all (" not in found.unset_because)


def test_a_tied_default_is_kept_however_small_a_gain_would_do() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (551, 97.5)}, process_sd=0.0, decide=replace(DECIDE, min_gain=0.0)))
    assert found.ruling is Ruling.KEEP
    assert found.unset_because and found.unset_because.startswith(
        "unset, because flashinfer is tied with the default within 1.0 % of attention time; a difference of 0."
    )


def test_a_large_win_in_a_tiny_share_of_the_step_pins_nothing() -> None:
    found = decide(one_cell_each({"fa3": (5, 1), "flashinfer": (2, 0.5)}))
    assert found.ruling is Ruling.KEEP
    best = next(score for score in found.scores if score.pair == Pair(FLASHINFER, FLASHINFER))
    assert best.step_gain_high is not None and best.step_gain_high < 0.01
    assert found.unset_because and f"a step is at most {100 * best.step_gain_high:.2f} % faster" in found.unset_because


def test_the_same_win_pins_where_attention_is_most_of_the_step() -> None:
    found = decide(one_cell_each({"fa3": (5000, 1000), "flashinfer": (2000, 500)}))
    assert found.ruling is Ruling.SWITCH


def test_a_slower_rival_is_said_to_be_slower() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "triton": (900, 130)}))
    assert found.unset_because and found.unset_because.startswith("unset, because no arm beat the default")


def test_a_gain_that_depends_on_noise_is_inconclusive() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "triton": (554, 93)}, process_sd=0.02))
    assert found.ruling is Ruling.KEEP
    assert found.unset_because and "inconclusive" in found.unset_because


def test_a_single_process_never_switches() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (400, 35)}, processes=1))
    assert found.ruling is Ruling.KEEP
    assert found.unset_because and "inconclusive" in found.unset_because
    assert found.minimum_detectable_effect is None
    assert all(score.ratio is None for score in found.scores)


def test_a_default_that_crashed_leaves_the_run_incomplete_and_ranks_the_rest() -> None:
    crash = {(FA3, DECODE): (Outcome.CRASHED, "signal 11 while capturing")}
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35), "triton": (800, 40)}, failures=crash))
    assert (found.ruling, found.default, found.pick, found.flags) == (Ruling.INCOMPLETE, None, None, ())
    assert found.unset_because == f"incomplete: the default (fa3) was not measured: {FA3} on {DECODE}: crashed: signal 11 while capturing"
    assert [score.pair.decode for score in found.scores][:2] == [FLASHINFER, TRITON]
    assert all(score.ratio is None and score.step_gain_low is None for score in found.scores)


def test_an_excluded_default_says_what_excluded_it() -> None:
    why = Reason("page_size", "page size 16", "1", "leave engine.page_size unset", "some_file.py, 0.5.16")
    found = decide(one_cell_each({"flashinfer": (722, 35)}, exclusions=(Exclusion("fa3", None, (why,)),)))
    assert found.ruling is Ruling.INCOMPLETE
    assert found.unset_because and "(fa3) was not measured: page size 16 was asked, 1 is allowed" in found.unset_because


def test_without_default_pins_the_fastest_and_repeats_why_there_was_no_default() -> None:
    crash = {(FA3, DECODE): (Outcome.CRASHED, "signal 11"), (FA3, PREFILL): (Outcome.CRASHED, "signal 11")}
    run = one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35), "triton": (800, 40)}, failures=crash)
    found = decide(run, without_default=True)
    assert (found.ruling, found.default, found.pick) == (Ruling.SWITCH, None, Pair(FLASHINFER, FLASHINFER))
    assert found.cautions[0].startswith("incomplete: the default (fa3) was not measured")
    assert all("triton" in text and " takes 1.0" in text for _, text in found.because)


def test_without_default_one_process_still_pins_nothing() -> None:
    run = one_cell_each({"flashinfer": (722, 35), "triton": (800, 40)}, processes=1)
    assert decide(run, without_default=True).ruling is Ruling.INCOMPLETE


def test_a_run_whose_processes_never_finished_is_incomplete() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (400, 35)}, processes=0))
    assert found.ruling is Ruling.INCOMPLETE
    assert found.unset_because and "no finished process timed fa3/p1" in found.unset_because


def test_a_loss_on_one_cell_bars_an_overall_winner() -> None:
    cells = (decode(tokens=0.95), decode("decode_b8", batch=8, tokens=0.05), prefill())
    times = {(FA3, DECODE): 98.0, (FA3, "decode_b8"): 20.0, (FA3, PREFILL): 554.0}
    rival = {(FLASHINFER, DECODE): 60.0, (FLASHINFER, "decode_b8"): 23.0, (FLASHINFER, PREFILL): 554.0}
    found = decide(build(Recipe((arm("fa3"), arm("flashinfer")), times | rival, cells)))
    assert found.ruling is Ruling.KEEP
    score = next(score for score in found.scores if score.pair == Pair(FA3, FLASHINFER))
    assert score.barred and "on decode_b8: not surely within 5.0 % of it" in score.barred
    assert (score.worst_cell, score.worst_cell_ratio and round(score.worst_cell_ratio.estimate, 2)) == ("decode_b8", 1.15)
    assert found.unset_because and " % faster, but flashinfer takes 1.1" in found.unset_because


def test_a_loss_on_the_largest_cell_bars_although_traffic_never_visits_it() -> None:
    cells = (decode(), prefill(), decode("decode_largest", batch=256, context=16384, tokens=0.0, calls=0.0))
    times = {(FA3, DECODE): 98.0, (FA3, "decode_largest"): 3000.0, (FA3, PREFILL): 554.0}
    rival = {(FLASHINFER, DECODE): 60.0, (FLASHINFER, "decode_largest"): 3600.0, (FLASHINFER, PREFILL): 554.0}
    found = decide(build(Recipe((arm("fa3"), arm("flashinfer")), times | rival, cells)))
    assert found.ruling is Ruling.KEEP
    assert found.unset_because and "decode_largest" in found.unset_because


def test_a_loss_where_hardly_any_token_is_made_bars_nothing() -> None:
    cells = (decode(tokens=0.995), decode("decode_b1", batch=1, tokens=0.005), prefill())
    times = {(FA3, DECODE): 98.0, (FA3, "decode_b1"): 10.0, (FA3, PREFILL): 554.0}
    rival = {(FLASHINFER, DECODE): 60.0, (FLASHINFER, "decode_b1"): 13.0, (FLASHINFER, PREFILL): 554.0}
    found = decide(build(Recipe((arm("fa3"), arm("flashinfer")), times | rival, cells)))
    assert (found.ruling, found.pick) == (Ruling.SWITCH, Pair(FA3, FLASHINFER))


def test_an_eager_arm_is_shown_but_never_ranked_against_a_graph() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "torch_native": (554, 9)}, modes={("torch_native/p1", DECODE): "eager"}))
    assert found.ruling is Ruling.KEEP
    score = next(score for score in found.scores if score.pair.decode == "torch_native/p1")
    assert score.barred == f"torch_native/p1 runs {DECODE} in eager mode, fa3/p1 in graph mode: shown, not ranked"
    assert score.ratio is None and score.step_gain_high is None
    shown = next(result for result in found.cells if (result.arm, result.cell) == ("torch_native/p1", DECODE))
    assert shown.mode == "eager" and shown.ratio is None and shown.median_us == pytest.approx(9, rel=0.02)


def test_eager_arms_are_ranked_among_themselves() -> None:
    modes = {("torch_native/p1", DECODE): "eager", ("flex_attention/p1", DECODE): "eager"}
    times = {"torch_native": (554, 98), "flex_attention": (300, 40)}
    found = decide(one_cell_each(times, modes=modes, default=("torch_native", "torch_native")))
    assert (found.ruling, found.pick) == (Ruling.SWITCH, Pair("flex_attention/p1", "flex_attention/p1"))


def test_without_a_default_eager_arms_do_not_win_over_graphs() -> None:
    times = {"flashinfer": (722, 35), "triton": (800, 40), "torch_native": (554, 9)}
    run = one_cell_each(times, modes={("torch_native/p1", DECODE): "eager"})
    assert decide(run, without_default=True).pick == Pair("torch_native/p1", FLASHINFER)


def test_arms_of_different_page_sizes_never_pair() -> None:
    arms = (arm("fa3"), arm("trtllm_mha", 64))
    times = {("fa3/p1", PREFILL): 554.0, ("fa3/p1", DECODE): 98.0, ("trtllm_mha/p64", PREFILL): 900.0, ("trtllm_mha/p64", DECODE): 35.0}
    found = decide(build(Recipe(arms, times)))
    assert {score.pair for score in found.scores} == {Pair(FA3, FA3), Pair("trtllm_mha/p64", "trtllm_mha/p64")}


def test_a_pick_at_another_page_size_says_so() -> None:
    arms = (arm("fa3"), arm("fa3", 64), arm("trtllm_mha", 64))
    times = {(made.name, PREFILL): 554.0 for made in arms} | {
        (FA3, DECODE): 98.0,
        ("fa3/p64", DECODE): 97.0,
        ("trtllm_mha/p64", DECODE): 35.0,
    }
    found = decide(build(Recipe(arms, times)))
    assert (found.ruling, found.pick) == (Ruling.SWITCH, Pair("fa3/p64", "trtllm_mha/p64"))
    assert dict(found.flags)["decode-attention-backend"] == "trtllm_mha"
    if "page-size" in dict(found.flags):
        assert "64 tokens a page, the default has 1" in dict(found.because)["page-size"]


def test_arms_of_different_kv_dtypes_never_pair() -> None:
    arms = (arm("fa3"), arm("flashinfer", kv_dtype="float8_e4m3fn"))
    times = {(made.name, cell): 50.0 for made in arms for cell in (PREFILL, DECODE)}
    assert len(decide(build(Recipe(arms, times))).scores) == 2


def test_where_every_rival_is_barred_and_slower_none_is_named_as_the_nearest() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "triton": (900, 130)}))
    assert all(score.barred for score in found.scores if score.pair != found.default)
    most = max(score.step_gain_high for score in found.scores if score.pair != found.default and score.step_gain_high is not None)
    assert found.unset_because == (
        f"unset, because no arm beat the default: with triton in either phase a step is at least {100 * -most:.1f} % slower, predicted"
    )


def test_an_arm_that_was_scored_in_one_phase_is_named_for_that_one() -> None:
    times = {(FA3, PREFILL): 554.0, (FA3, DECODE): 98.0, (FLASHINFER, PREFILL): 900.0, (FLASHINFER, DECODE): 130.0, (TRITON, DECODE): 140.0}
    failures = {(TRITON, PREFILL): (Outcome.CRASHED, "signal 11")}
    found = decide(build(Recipe((arm("fa3"), arm("flashinfer"), arm("triton")), times, failures=failures)))
    assert "with flashinfer in prefill, flashinfer or triton in decode a step is at least " in str(found.unset_because)


def test_where_every_rival_is_barred_and_one_is_not_slower_in_all_what_bars_it_is_said() -> None:
    cells = (decode(), prefill(), decode("largest", batch=256, tokens=0.0, calls=0.0))
    us = {FA3: (98.0, 554.0, 300.0), TRITON: (97.5, 900.0, 400.0)}
    times = {(name, weighted.cell.name): us[name][index] for name in us for index, weighted in enumerate(cells)}
    found = decide(build(Recipe((arm("fa3"), arm("triton")), times, cells)))
    assert found.unset_because is not None
    assert found.unset_because.startswith("unset, because no other pair may be picked: triton takes 1.33")
    assert found.unset_because.endswith("times the time of fa3 on largest: not surely within 5.0 % of it")


def test_that_the_rival_is_slower_is_told_before_that_it_compiles_while_it_serves() -> None:
    """The only rival left after one process, so nothing says how much slower it surely is."""
    whole, compiles = started({"fa3": (554, 98), "triton": (740, 132)}), ServingJit(Builds.PER_SHAPE, "one a length", "made up")
    terms = tuple(ServingTerms(each.name, None, 0.0, (), compiles if each.backend == "triton" else None) for each in whole.arms)
    found = decide(play(replace(whole, terms=terms)))
    (rival,) = [score for score in found.scores if score.pair == Pair(TRITON, TRITON)]
    assert rival.barred and "may compile kernels while it serves" in rival.barred and rival.step_gain_high is None
    assert found.unset_because is not None and found.unset_because.startswith(
        "unset, because no arm beat the default: prefill triton, decode fa3 left the race after 1 process: in prefill triton takes 1.3"
    )


def test_an_explicit_choice_is_kept_and_repeated_and_the_faster_one_is_named_with_what_it_would_win() -> None:
    """SGLang pull request 39882: the tool finds a backend 10 % faster than the one that was asked for."""
    engine = replace(ENGINE, attention_backend="triton")
    times = {"triton": (554, 110), "fa3": (554 / 1.1, 100)}
    found = decide(one_cell_each(times, engine=engine, default=("triton", "triton"), process_sd=0.0, visit_sd=0.0))
    assert (found.ruling, found.pick, found.flags) == (Ruling.KEEP, Pair(TRITON, TRITON), (("attention-backend", "triton"),))
    [(_, because)] = found.because
    assert "1.100 times that of fa3 (1.09" in because and because.endswith("; your choice, kept") and len(because) <= 160
    assert found.unset_because is not None
    assert (
        "fa3 would make a step " in found.unset_because
        and " % faster, but engine.attention_backend=triton is your choice" in found.unset_because
    )


def test_a_slower_rival_of_an_explicit_choice_is_no_reason_against_it() -> None:
    engine = replace(ENGINE, attention_backend="fa3")
    found = decide(one_cell_each({"fa3": (554, 98), "triton": (700, 200)}, engine=engine))
    [(flag, because)] = found.because
    assert found.flags == (("attention-backend", "fa3"),) and flag == "attention-backend"
    assert "triton + fa3 takes 1.04" in because and because.endswith("; your choice, kept")
    assert found.unset_because and "no arm beat the default" in found.unset_because


def test_a_page_size_that_the_user_chose_is_kept_and_repeated() -> None:
    arms = (arm("fa3", 16), arm("trtllm_mha", 64))
    times = {("fa3/p16", PREFILL): 554.0, ("fa3/p16", DECODE): 98.0, ("trtllm_mha/p64", PREFILL): 400.0, ("trtllm_mha/p64", DECODE): 50.0}
    found = decide(build(Recipe(arms, times, engine=replace(ENGINE, page_size=16), page_size=16)))
    assert (found.ruling, found.flags) == (Ruling.KEEP, (("page-size", "16"),))
    assert found.because == (("page-size", "your choice, kept: the pick was measured at 16 tokens a page"),)
    assert "engine.page_size=16 is your choice and is kept" in str(found.unset_because)


def test_an_explicit_decode_choice_leaves_prefill_free() -> None:
    engine = replace(ENGINE, decode_attention_backend="triton")
    times = {"fa3": (2000, 98), "flashinfer": (900, 35), "triton": (2500, 97)}
    found = decide(one_cell_each(times, engine=engine, default=("fa3", "triton")))
    assert found.default == Pair(FA3, TRITON)
    assert (found.ruling, found.pick) == (Ruling.SWITCH, Pair(FLASHINFER, TRITON))
    assert found.flags == (("prefill-attention-backend", "flashinfer"), ("decode-attention-backend", "triton"))
    assert dict(found.because)["decode-attention-backend"].endswith("; your choice, kept")
    assert any("engine.decode_attention_backend=triton is your choice" in text for text in found.cautions)


def test_tpot_looks_at_decode_and_leaves_prefill_as_it_is() -> None:
    times = {"fa3": (554, 98), "flashinfer": (550, 35)}
    found = decide(one_cell_each(times, decide=replace(DECIDE, objective=Objective.TPOT)))
    assert found.pick == Pair(FA3, FLASHINFER)
    assert {step.phase for step in found.steps} == {"decode"}


def test_ttft_looks_at_prefill_alone() -> None:
    times = {"fa3": (5540, 98), "flashinfer": (2200, 97)}
    found = decide(one_cell_each(times, decide=replace(DECIDE, objective=Objective.TTFT)))
    assert found.pick == Pair(FLASHINFER, FA3)


def test_metadata_that_would_eat_the_gain_when_exposed_prevents_a_switch() -> None:
    times = {"fa3": (554, 98), "flashinfer": (554, 80)}
    slow = {(FLASHINFER, DECODE): 900.0}
    assert decide(one_cell_each(times)).ruling is Ruling.SWITCH
    assert decide(one_cell_each(times, metadata_us=slow)).ruling is Ruling.KEEP


def test_an_arm_missing_from_some_processes_is_not_ranked() -> None:
    run = one_cell_each({"fa3": (554, 98), "flashinfer": (400, 35)})
    last = run.rounds[-1]
    cells = tuple(replace(cell, visits=tuple(visit for visit in cell.visits if visit.arm == FA3)) for cell in last.cells)
    found = decide(replace(run, rounds=(*run.rounds[:-1], replace(last, cells=cells))))
    assert found.ruling is Ruling.KEEP
    assert found.scores[-1].barred == "timed on every cell in 3 of 4 processes: shown, not ranked"


def test_two_names_for_the_same_kernels_are_not_ranked() -> None:
    same = {("other/p1", cell): ("fa3_kernel",) for cell in (PREFILL, DECODE)}
    found = decide(one_cell_each({"fa3": (554, 98), "other": (500, 80)}, kernels=same))
    assert found.ruling is Ruling.KEEP
    assert found.scores[-1].barred and "launched the kernels of fa3/p1" in found.scores[-1].barred


def test_a_kernel_adapter_beside_its_engine_arm_is_a_cross_check_not_a_rival() -> None:
    arms = (arm("fa3"), arm("flashinfer"), arm("flashinfer", provider=Provider.KERNEL))
    times = {(made.name, cell): 50.0 for made in arms for cell in (PREFILL, DECODE)}
    found = decide(build(Recipe(arms, times)))
    assert all("@kernel" not in score.pair.decode + score.pair.prefill for score in found.scores)
    assert any(result.arm == "flashinfer/p1@kernel" for result in found.cells)


def test_a_machine_without_known_rates_pins_nothing_and_says_so() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (400, 35)}, gpu=CPU))
    assert found.ruling is Ruling.KEEP
    assert all(step.rest_ms_high is None and step.share_low == 0.0 for step in found.steps)
    assert any("no rates of x86 CPU known" in text for text in found.cautions)


def test_an_only_arm_is_kept() -> None:
    found = decide(one_cell_each({"fa3": (554, 98)}))
    assert found.unset_because == "unset, because no other arm was measured on every cell"
    assert found.minimum_detectable_effect is None


def test_cautions_carry_the_labels_of_the_rounds() -> None:
    two = {"fa3": (554, 98), "flashinfer": (560, 99)}
    found = decide(one_cell_each(two, processes=3, labels=("exclusivity not verifiable",), settled=False))
    assert "exclusivity not verifiable in 3 of 3 processes" in found.cautions
    assert f"{DECODE} had not settled in 3 of 3 processes" in found.cautions
    assert "processes measured: 3; 4 or more narrow the intervals" in found.cautions


def test_a_default_whose_rivals_left_has_no_intervals_that_more_processes_would_narrow() -> None:
    found = decide(one_cell_each({"fa3": (554, 98)}, processes=3))
    assert not any("narrow the intervals" in text for text in found.cautions)


def test_what_the_plan_cut_or_dropped_is_said_beside_the_answer() -> None:
    notes = ("decode-64 was dropped: the server runs at most 48 requests at once",)
    assert notes[0] in decide(replace(one_cell_each({"fa3": (554, 98)}), notes=notes)).cautions


def test_a_loss_on_any_guard_bars_also_where_another_cell_is_larger() -> None:
    longest = decode("decode-longest", batch=1, context=131072, tokens=0.0, calls=0.0)
    times = {(FA3, DECODE): 98.0, (FA3, PREFILL): 554.0, (FA3, "decode-longest"): 300.0}
    rival = {(FLASHINFER, DECODE): 60.0, (FLASHINFER, PREFILL): 554.0, (FLASHINFER, "decode-longest"): 360.0}
    cells = (decode(context=4096), prefill(), longest)
    found = decide(build(Recipe((arm("fa3"), arm("flashinfer")), {**times, **rival}, cells)))
    assert found.pick == Pair(FA3, FA3)
    assert found.unset_because and "decode-longest" in found.unset_because


def test_assumptions_are_said() -> None:
    found = decide(one_cell_each({"fa3": (554, 98), "flashinfer": (722, 35)}))
    said = "\n".join(found.cautions)
    assert "noise of 0.60 % was assumed" in said
    assert f"predicted, not measured; rates of {H200.name} from its datasheet" in said
    assert "over 3 rivals (Bonferroni: each at 98.33 %)" in said


def test_rates_that_attention_reached_bound_the_step_of_a_machine_without_a_datasheet() -> None:
    run = one_cell_each({"fa3": (55400, 9800), "flashinfer": (40000, 3500)}, gpu=CPU)
    trials = tuple(replace(trial, bandwidth_bytes_per_s=5e10, flops_per_s=1e12) for trial in run.trials)
    found = decide(replace(run, trials=trials))
    assert found.ruling is Ruling.SWITCH
    assert any("the best that attention reached in this run was taken as a lower end" in text for text in found.cautions)


def test_arms_that_are_equally_fast_are_never_switched() -> None:
    times = {"fa3": (554, 98), "flashinfer": (554, 98), "triton": (554, 98)}
    rulings = [decide(one_cell_each(times, process_sd=0.008, seed=seed)).ruling for seed in range(150)]
    assert rulings == [Ruling.KEEP] * 150

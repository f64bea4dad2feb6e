"""Regret, flips, missed winners and seconds, counted on processes whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.bench import row_file
from tests.bench.peers import oracle, ours
from tests.bench.peers.bias import bias
from tests.bench.peers.made_up import CELL_S, START_S, Times, readings, rounds, row
from tests.bench.peers.oracle import truths, usual_half_width
from tests.bench.peers.page import NOTHING, render
from tests.bench.peers.peers import RAISING
from tests.bench.peers.rows import Reading, Row, read_rows
from tests.bench.peers.score import Result, Share, results

CELL, OTHER = "decode-64x4096", "decode-64x12288"
FA3, FLASHINFER, TRITON = "fa3/p1", "flashinfer/p1", "triton/p1"
TRUE: Times = {CELL: {FA3: 100.0, FLASHINFER: 103.0, TRITON: 200.0}, OTHER: {FA3: 400.0, FLASHINFER: 390.0, TRITON: 800.0}}


def of(name: str, rows: Sequence[Row], repeats: int = 1) -> Result:
    return next(result for result in results(rows) if (result.name, result.repeats) == (name, repeats))


def oracles(processes: int = 6) -> list[Row]:
    return rounds(oracle.KIND, TRUE, processes)


def test_the_oracle_finds_the_best_arm_and_how_far_the_others_are_behind() -> None:
    known = truths(oracles())
    assert (known[CELL].best, known[OTHER].best) == (FA3, FLASHINFER)
    assert known[CELL].gap == pytest.approx(0.03, abs=0.003)
    assert known[CELL].regret(TRITON) == pytest.approx(1.0, abs=0.01)
    widths = usual_half_width(known.values())
    assert widths is not None and 0 < widths[0] <= widths[1] < 0.003


def test_an_arm_that_left_the_oracle_early_keeps_its_distance_whatever_later_processes_were_like() -> None:
    slow = [{FA3: 0.1, FLASHINFER: 0.13}, {FA3: 0.1, FLASHINFER: 0.13}]
    early = [{FA3: 0.0, FLASHINFER: 0.03, TRITON: 0.7}]
    truth = oracle.truth_of(CELL, [*early, *slow])
    assert truth.behind[TRITON] == pytest.approx(0.7)


def test_more_processes_are_wanted_of_near_arms_only_and_only_until_they_are_known() -> None:
    assert oracle.wanted(oracles(2), [CELL]) == {CELL: (FA3, FLASHINFER)}
    assert oracle.wanted(rounds(oracle.KIND, TRUE, 6, sd=1e-5), [CELL]) == {}


def test_a_peer_pays_for_the_arm_it_says_is_fastest() -> None:
    said: Times = {CELL: {FA3: 50.0, FLASHINFER: 49.9}, OTHER: {FA3: 41.0, FLASHINFER: 40.0}}
    result = of("do_bench", [*oracles(), readings("do_bench", said)])
    assert result.regrets[CELL] == pytest.approx(0.03, abs=0.003)
    assert result.regrets[OTHER] == 0
    assert result.wrong == (CELL,)
    assert result.missed is None


def test_a_tools_times_are_held_against_the_oracles_of_the_same_arms() -> None:
    known = truths(oracles())
    said: Times = {CELL: {FA3: 110.0, TRITON: 220.0}, OTHER: {FLASHINFER: 468.0}}
    found = bias([readings("span", said)], known, "span", "decode")
    assert found is not None
    assert (found.low, found.usual, found.high) == pytest.approx((1.1, 1.1, 1.2), abs=0.005)
    assert bias([readings("span", said)], known, "span", "prefill") is None


def test_a_tool_that_timed_nothing_picks_nothing() -> None:
    mute = tuple(Reading("span", CELL, arm, (), 0.1, 0.1, "RuntimeError: no") for arm in (FA3, FLASHINFER))
    rows = [*oracles(), row("plain", 0, readings=mute)]
    assert (of("span", rows).silent, of("span", rows).regrets) == ((CELL,), {})
    assert f"| span | 1 | {FA3}: RuntimeError: no |" in render(rows)


def test_a_flip_is_a_pick_that_is_not_the_usual_one_of_its_cell() -> None:
    right: Times = {CELL: {FA3: 1.0, FLASHINFER: 2.0}}
    wrong: Times = {CELL: {FA3: 2.0, FLASHINFER: 1.0}}
    rows = [*oracles(), *(readings("span", wrong if index == 3 else right, index) for index in range(10))]
    assert of("span", rows).flips == Share(1, 10)


def test_ours_takes_the_default_where_it_is_not_beaten_and_the_winner_where_it_is() -> None:
    result = of("quick", [*oracles(), *rounds(ours.KIND, TRUE, 4)])
    assert result.regrets == {CELL: 0.0, OTHER: 0.0}
    assert result.missed == Share(0, 2)


def test_a_clear_winner_that_is_not_named_is_missed() -> None:
    alike: Times = {CELL: {FA3: 100.0, FLASHINFER: 100.1, TRITON: 200.0}}
    result = of("quick", [*oracles(), *rounds(ours.KIND, alike, 4)])
    assert result.missed == Share(1, 1)


def test_a_race_that_was_cut_off_says_nothing_yet() -> None:
    close: Times = {CELL: {FA3: 100.0, FLASHINFER: 101.8, TRITON: 200.0}}
    rows = [*oracles(), *rounds(ours.KIND, close, 3)]
    assert of("quick", rows).silent == (CELL,)


def test_flips_of_ours_are_those_of_races_on_drawn_processes() -> None:
    rows = [*oracles(), *rounds(ours.KIND, TRUE, 10)]
    assert of("quick", rows).flips == Share(0, 20)


def test_a_contestant_holds_the_gpu_for_its_starts_and_its_own_work() -> None:
    said: Times = {CELL: {FA3: 1.0, FLASHINFER: 2.0}}
    rows = [*oracles(), readings("span", said), *rounds(ours.KIND, {CELL: TRUE[CELL]}, 10)]
    assert of("span", rows).held.all_s == pytest.approx(START_S + 2 * (0.5 + 0.25))
    quick = of("quick", rows).held
    assert quick.starts_s == pytest.approx(2 * START_S)
    # triton leaves after one process, the loser of the others after two; the second counts as far as it timed those two
    assert quick.work_s == pytest.approx(CELL_S * (1 + 2 / 3))


def test_processes_of_ours_after_the_first_start_as_they_do_where_they_import_ahead() -> None:
    first, *later = rounds(ours.KIND, {CELL: TRUE[CELL]}, 10)
    early = [replace(each, ahead=True, start_s=1.5, wall_s=each.wall_s - START_S + 1.5) for each in (first, *later)]
    quick = of("quick", [*oracles(), *early]).held
    assert quick.starts_s == pytest.approx(START_S + 1.5)
    assert quick.work_s == pytest.approx(CELL_S * (1 + 2 / 3))


def test_more_repetitions_replace_the_pick_where_they_were_tried_and_cost_their_time() -> None:
    wrong: Times = {CELL: {FA3: 2.0, FLASHINFER: 1.0}, OTHER: {FA3: 2.0, FLASHINFER: 1.0}}
    right: Times = {CELL: {FA3: 1.0, FLASHINFER: 2.0}}
    rows = [*oracles(), readings("span", wrong), readings("span", right, RAISING, repeats=8)]
    assert of("span", rows).wrong == (CELL,)
    raised = of("span", rows, 8)
    assert raised.wrong == ()
    assert raised.held.work_s == pytest.approx(4 * (8 * 0.5 + 0.25))


def test_what_failed_counts_for_nothing() -> None:
    lost = row("plain", 0, readings=(Reading("span", CELL, TRITON, (1.0,), 0.1, 0.1),), failed="the worker failed")
    assert not any(result.name == "span" for result in results([*oracles(), lost]))


def test_the_page_says_what_was_met_and_what_was_missed() -> None:
    said: Times = {cell: dict(arms) for cell, arms in TRUE.items()}
    page = render([*oracles(), *rounds(ours.KIND, TRUE, 4), readings("span", said)])
    assert "- quick: no wrong winner by more than 1.0 %: met, the worst is 0 %." in page
    assert "- quick: no peer reaches 1.0 % in fewer seconds: **missed**: span in" in page
    assert render([]).endswith(NOTHING)


def test_rows_are_kept_one_by_one_and_a_line_that_was_cut_off_is_left_out(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rows, file = oracles(2), tmp_path / "rows.jsonl"
    for each in rows:
        row_file.append(each, file)
    file.write_text(file.read_text() + '{"kind": "ora')
    assert list(read_rows(file)) == rows
    row_file.compress(read_rows(file), tmp_path / "rows.jsonl.zst")
    assert list(read_rows(tmp_path / "rows.jsonl.zst", tmp_path / "none")) == rows

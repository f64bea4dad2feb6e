"""`attnpin compare` on a simulated GPU: real workers in pairs, from the command line to the exit code."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from backends.measured import Round
from store.comparisons.side_by_sides import add_pair, end_side_by_side
from store.database.connect import Store, open_store
from store.past.points import points_of
from store.runs.run import FINISHED
from tests.tuner.simulated.telling import TWO_ARMS, Told, told, url_in
from tuner.comparing import rounds
from tuner.comparing.recorded import recorded

FAULTS = "with:'gpu.simulated.faults=[{kind: %s, backend: flashinfer, phase: decode}]'"


def compared(folder: Path, candidate: str, *more: str) -> Told:
    """Of decode alone, which is quicker."""
    return told(folder, "compare", "--candidate", candidate, *TWO_ARMS, "engine.role=decode", f"store.url={url_in(folder)}", *more)


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return compared(tmp_path_factory.mktemp("upgraded"), "flashinfer-python==0.6.1", "--json")


def verdict_of(told: Told) -> dict[str, Any]:
    (line,) = told.out.splitlines()
    return dict(json.loads(line))


def test_an_upgrade_that_makes_decode_three_times_slower_is_a_regression(upgraded: Told) -> None:
    verdict = verdict_of(upgraded)
    assert (upgraded.code, verdict["label"], verdict["shifted"]) == (1, "regressed", False)
    labels = {(row["arm"], row["cell"]): row["verdict"]["label"] for row in verdict["rows"]}
    decode = {key: label for key, label in labels.items() if key[0] == "flashinfer/p1" and str(key[1]).startswith("decode")}
    assert decode and set(decode.values()) == {"regressed"}
    assert {label for key, label in labels.items() if key not in decode and key[1] is not None} == {"equivalent"}
    assert [each["what"] for each in verdict["moved"]] == ["flashinfer-python"]


def test_arms_that_the_upgrade_does_not_touch_are_its_controls(upgraded: Told) -> None:
    rows = verdict_of(upgraded)["rows"]
    assert {row["arm"]: row["control"] for row in rows} == {"fa3/p1": True, "flashinfer/p1": False}
    same = {(each["arm"], each["code"]) for each in verdict_of(upgraded)["dispatches"] if each["code"] is not None}
    assert same == {("fa3/p1", True), ("flashinfer/p1", False)}


def test_a_change_that_touches_no_arm_is_not_measured(tmp_path: Path) -> None:
    found = compared(tmp_path, "flashinfer-python==0.6.1", "backend=[fa3,triton]")
    assert found.code == 3 and found.out == ""
    assert "since flashinfer-python (0.6.14 -> 0.6.1) touches no arm that can be (fa3/p1, triton/p1); attnpin plan says why" in found.err


def test_the_same_question_again_is_answered_from_the_store(upgraded: Told) -> None:
    again = compared(upgraded.folder, "flashinfer-python==0.6.1", "--json")
    assert (again.code, again.out) == (upgraded.code, upgraded.out) and "compared just these two" in again.err


def test_the_verdict_comes_first_and_names_what_differs(upgraded: Told) -> None:
    text = compared(upgraded.folder, "flashinfer-python==0.6.1").out
    assert text.startswith("regressed: flashinfer/p1 takes 3.") and "flashinfer-python  0.6.14    0.6.1      flashinfer/p1" in text
    markdown = compared(upgraded.folder, "flashinfer-python==0.6.1", "--md").out
    assert markdown.startswith("**regressed: flashinfer/p1 takes 3.") and len(markdown) < 60_000
    assert "t = standard errors" in compared(upgraded.folder, "flashinfer-python==0.6.1", "--explain").out


def test_what_is_written_to_be_committed_says_the_same_without_the_database(upgraded: Told) -> None:
    out = upgraded.folder / "out"
    markdown = compared(upgraded.folder, "flashinfer-python==0.6.1", "--md", "--out", str(out)).out
    assert sorted(file.name for file in out.iterdir()) == ["command.txt", "comparison.evidence.jsonl.zst", "comparison.md"]
    assert (out / "comparison.md").read_text() == markdown
    assert (out / "command.txt").read_text() == f"{recorded(out).command}\n" and str(upgraded.folder) not in recorded(out).command
    shown = [told(upgraded.folder, "report", "--comparison", str(file), "--md") for file in (out, out / "comparison.evidence.jsonl.zst")]
    assert [(each.code, each.out) for each in shown] == [(0, markdown)] * 2
    assert told(upgraded.folder, "report", "--comparison", str(out), "--json").out == upgraded.out
    assert "t = standard errors" in told(upgraded.folder, "report", "--comparison", str(out), "--explain").out
    both = told(upgraded.folder, "report", "--comparison", str(out), "--run", "r1")
    assert both.code == 2 and "--comparison, --run and --pin each name what to report" in both.err


def test_history_holds_the_candidate_against_the_baseline_of_its_own_sitting(upgraded: Told) -> None:
    url, words = f"store.url={url_in(upgraded.folder)}", ("--cell", "decode-1", "--arm")
    slow, control = (told(upgraded.folder, "history", url, *words, arm) for arm in ("flashinfer/p1", "fa3/p1"))
    assert slow.code == 1 and slow.out.startswith("regressed: flashinfer/p1 on decode-1 takes 3.") and "side by side" in slow.out
    assert control.code == 0 and "  equivalent  " in control.out
    assert told(upgraded.folder, "history", url, *words, "fa3/p9").code == 2
    alone = told(upgraded.folder, "history", url, "--cell", "decode-1")
    assert alone.code == 2 and "--cell and --arm belong together" in alone.err
    assert "candidate of " in told(upgraded.folder, "history", url).out


def test_a_history_out_of_committed_comparisons_says_what_the_store_says(upgraded: Told) -> None:
    out = str(upgraded.folder / "committed")
    compared(upgraded.folder, "flashinfer-python==0.6.1", "--out", out)
    words = ("--cell", "decode-1", "--arm", "flashinfer/p1", "--arm", "fa3/p1")
    stored, committed = (
        told(upgraded.folder, "history", *source, *words) for source in ((f"store.url={url_in(upgraded.folder)}",), ("--comparison", out))
    )
    assert (committed.code, committed.out) == (stored.code, stored.out) == (1, stored.out)
    unknown = told(upgraded.folder, "history", "--comparison", out, "--cell", "decode-9", "--arm", "fa3/p1")
    assert unknown.code == 2 and "no comparison given timed a cell called 'decode-9'" in unknown.err


def test_a_folder_that_cannot_hold_the_files_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "comparison.md").mkdir()
    found = compared(tmp_path, "flashinfer-python==0.6.1", "--out", str(tmp_path))
    assert found.code == 2 and "comparison.md is a folder" in found.err and not (tmp_path / "attnpin.db").exists()


def test_wrong_answers_in_the_candidate_alone_are_exit_5(tmp_path: Path) -> None:
    """Also of the only arm there is: then no pair of processes is measured at all."""
    found = compared(tmp_path, FAULTS % "nans", "backend=[flashinfer]", "engine.attention_backend=flashinfer")
    assert found.code == 5 and found.out.startswith("regressed: flashinfer/p1 on decode-1 was measured in the baseline and is incorrect")


def test_a_comparison_of_the_same_with_itself_is_equivalent_and_a_process_that_is_killed_is_run_again(tmp_path: Path) -> None:
    killed = "with:'gpu.simulated.faults=[{kind: killed, process: 2, after_s: 10}]'"
    found = compared(tmp_path, killed, "backend=[fa3]")
    assert found.code == 0 and found.out.startswith("equivalent: in none of") and "what differs is what with: sets" in found.out
    assert "broke off in the candidate" in found.err and "it is run again" in found.err


@pytest.fixture(scope="module")
def slowed(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return compared(tmp_path_factory.mktemp("slowed"), "slowed:0.05", "backend=[fa3]", "--json")


def test_a_slowdown_of_known_size_is_found_and_is_as_large_as_it_was_made(slowed: Told) -> None:
    verdict = verdict_of(slowed)
    assert (slowed.code, verdict["label"], verdict["rounds"]) == (1, "regressed", 6)
    ratios = [math.exp(row["verdict"]["numbers"]["estimate"]) for row in verdict["rows"] if row["cell"]]
    assert ratios == pytest.approx([1.05] * len(ratios), abs=0.007)
    assert any("slowed by further launches" in note for note in verdict["notes"])


def test_what_was_slowed_on_purpose_is_no_point_of_a_history(slowed: Told) -> None:
    found = told(slowed.folder, "history", f"store.url={url_in(slowed.folder)}", "--cell", "decode-1", "--arm", "fa3/p1")
    assert found.code == 0 and "one point alone" in found.out
    assert len(points_of(open_store(url_in(slowed.folder)), "fa3/p1", "decode-1")) == 1


def test_a_baseline_is_not_slowed(tmp_path: Path) -> None:
    found = compared(tmp_path, "present", "--baseline", "slowed:0.05")
    assert found.code == 2 and "give it to --candidate" in found.err


def test_another_process_at_the_same_comparison_disturbs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the first to store pair 1, and has ended the comparison before pair 3."""
    asked: list[int] = []

    def beaten(store: Store, comparison: str, pair: tuple[Round, Round]) -> None:
        asked.append(pair[0].index)
        if asked == [0]:
            add_pair(store, comparison, (pair[1], pair[0]))
        if len(asked) == 3:
            end_side_by_side(store, comparison, FINISHED)
        add_pair(store, comparison, pair)

    monkeypatch.setattr(rounds, "add_pair", beaten)
    found = compared(tmp_path, "present", "backend=[fa3]")
    assert asked == [0, 1, 2] and "pair 1 is there already, of another process" in found.err
    assert found.code == 3 and "2 pairs of fresh processes" in found.out


def test_on_a_gpu_that_lets_one_process_in_the_sides_come_one_after_the_other_and_a_settled_arm_sits_out(tmp_path: Path) -> None:
    alone = "gpu.simulated.faults=[{kind: exclusive}]", *(f"gpu.simulated.noise.{of}_pct=0.1" for of in ("process", "common"))
    found = compared(tmp_path, "torch==2.12.0,flashinfer-python==0.6.1", *alone)
    assert found.code == 1 and "6 pairs of fresh processes, one after the other" in found.out
    assert "what is settled sat out the rest of 6 pairs: after 4 fa3/p1\n" in found.out
    assert "since the GPU's compute mode lets one process in at a time" in found.out


def test_a_gpu_that_is_lost_again_and_again_in_the_candidate_is_no_regression_but_exit_4(tmp_path: Path) -> None:
    found = compared(tmp_path, "with:'gpu.simulated.faults=[{kind: xid}]'", "backend=[fa3]")
    assert found.code == 4 and "the driver reported Xid" in found.err and "run the same command again" in found.err

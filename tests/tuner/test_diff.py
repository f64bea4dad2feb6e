"""`attnpin diff`: two versions of a pin from their files alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backends.environment import Board
from reports.pin_diff import first_screen, headline, render_json, render_markdown, render_text
from store.pins.pin_diff import PinDiff, Turn
from store.pins.pin_files import write_pin
from store.runs.run import Run
from store.verdicts.comparison import Label
from tests.tuner.building import DECODE, PREFILL
from tests.tuner.checking.upgraded import FA3, FLASHINFER, WAVE, here, then, times
from tuner.cli import run as attnpin
from tuner.decide import decide
from tuner.diff import difference
from tuner.diffing.side import Side
from tuner.pin import pin_of

FLAG = "--decode-attention-backend"


def side(run: Run, missing: str | None = None) -> Side:
    assert run.decision is not None
    pin = pin_of(run, run.decision, ("pin.evidence.jsonl.zst", "00"))
    return Side(pin, None if missing else run, missing)


def later(run: Run, flashinfer: str = "2") -> Run:
    """``run`` as another one, after FlashInfer's upgrade."""
    changed = replace(run, id="later", environment=here(flashinfer_python=flashinfer))
    return replace(changed, decision=decide(changed))


OLD = then()
SLOWER = later(then(times(flashinfer=1.2)))
OVERTAKEN = later(then(times(flashinfer=3.0)))


def found(new: Run, old: Run = OLD) -> PinDiff:
    return difference(side(old), side(new))


def test_an_upgrade_that_changes_no_flag_is_named_with_the_arms_it_touches_and_its_times_are_judged() -> None:
    diff = found(SLOWER)
    assert (diff.turn, diff.flags) == (Turn.SAME, ())
    assert [(change.what, change.touches) for change in diff.moved] == [("flashinfer-python", (FLASHINFER,))]
    labels = {(row.arm, row.cell): row.verdict.label for row in diff.judged if row.cell}
    assert labels[FLASHINFER, DECODE] is Label.REGRESSED
    assert {(each.arm, each.cell) for each in diff.plain} >= {(FA3, DECODE), (FA3, PREFILL), (WAVE, DECODE)}
    assert {each.why for each in diff.plain if each.arm == FA3} == {"nothing that it runs on changed"}


def test_flags_that_are_set_otherwise_come_first_with_both_values_and_the_new_reason() -> None:
    diff = found(OVERTAKEN)
    assert diff.turn is Turn.OTHER
    assert headline(diff).startswith("other flags: ") and f"{FLAG} flashinfer is no longer set" in headline(diff)
    assert f"{FLAG} flashinfer is set, which was not" in headline(found(SLOWER, OVERTAKEN))
    (why,) = (each.after for each in diff.reasons if each.what == "unset")
    assert ("because", f"unset: {why}") in first_screen(diff)


@pytest.mark.parametrize("render", [render_text, render_markdown])
@pytest.mark.parametrize("new", [SLOWER, OVERTAKEN, OLD])
def test_the_verdict_comes_first_and_the_rest_of_it_fits_on_a_screen(render: object, new: Run) -> None:
    diff = found(new)
    text = render(diff)  # type: ignore[operator]
    assert headline(diff) in text.splitlines()[0].replace("\\", "")
    assert len(first_screen(diff)) < 15


def test_nothing_is_said_of_a_pin_and_itself() -> None:
    diff = found(OLD)
    assert (diff.turn, diff.moved, diff.asked, diff.reasons, diff.said, diff.arms) == (Turn.SAME, (), (), (), (), ())
    assert diff.uncompared == ("times: both pins are of one run",)


def test_times_of_another_gpu_are_not_compared() -> None:
    board = Board("cuda", "NVIDIA L4", 89, "GPU-2", 24 << 30, 72.0, None, "580.1")
    other = replace(SLOWER, environment=replace(SLOWER.environment, board=board))
    diff = found(other)
    assert (diff.judged, diff.plain) == ((), ())
    assert any(each.startswith("times: GPU was NVIDIA H200 and is NVIDIA L4") for each in diff.uncompared)
    assert {"GPU", "compute capability", "memory"} <= {change.what for change in diff.moved}


def test_other_boards_of_the_type_are_named_and_touch_no_arm() -> None:
    own = SLOWER.environment.board.uuid
    both = replace(SLOWER, rounds=(replace(SLOWER.rounds[0], board="GPU-other"), *SLOWER.rounds[1:]))
    (change,) = (change for change in found(both).moved if change.what == "boards")
    assert own is not None and (change.before, change.after, change.touches) == (own, ", ".join(sorted((own, "GPU-other"))), ())
    assert {each.why for each in found(both).plain if each.arm == FA3} == {"nothing that it runs on changed"}
    early = difference(replace(side(OLD), pin=replace(side(OLD).pin, boards=())), side(both))
    assert "boards" not in {change.what for change in early.moved}


def test_times_of_another_protocol_are_not_compared() -> None:
    diff = found(replace(SLOWER, protocol=SLOWER.protocol + 1))
    assert (diff.judged, diff.plain) == ((), ())
    assert f"times: the older ones follow protocol {OLD.protocol}, the newer ones {OLD.protocol + 1}" in diff.uncompared


def test_a_cell_of_other_traffic_is_not_compared_and_the_traffic_is_named() -> None:
    traffic = replace(SLOWER.scenario.traffic, name="rag", concurrency=16)
    cells = tuple(
        replace(weighted, cell=replace(weighted.cell, seed=weighted.cell.seed + 1)) if weighted.cell.name == DECODE else weighted
        for weighted in SLOWER.cells
    )
    diff = found(replace(SLOWER, scenario=replace(SLOWER.scenario, traffic=traffic), cells=cells))
    assert not any(each.cell == DECODE for each in (*diff.judged, *diff.plain))
    assert any(each.endswith(DECODE) for each in diff.uncompared)
    (change,) = (change for change in diff.asked if change.what == "traffic")
    assert change.after is not None and change.after.startswith("rag: 16 at once")


def test_without_the_evidence_flags_and_versions_are_compared_and_it_is_said() -> None:
    diff = difference(side(OLD, "gone"), side(OVERTAKEN))
    assert diff.turn is Turn.OTHER and diff.judged == diff.plain == diff.said == diff.arms == ()
    assert "times and reasons of the default: the older pin's evidence is not there (gone)" in diff.uncompared
    assert "flashinfer-python" in {change.what for change in difference(side(OLD, "gone"), side(SLOWER)).moved}


def test_a_pin_of_another_engine_shares_no_flag() -> None:
    pin = side(SLOWER).pin
    other = Side(replace(pin, engine="vllm", valid_for=replace(pin.valid_for, engine="vllm")), SLOWER)
    diff = difference(side(OLD), other)
    assert headline(diff) == "another engine: a pin of SGLang and one of vLLM have no flag in common"
    assert (diff.judged, diff.plain) == ((), ())


def test_cautions_come_and_go_one_by_one() -> None:
    assert OLD.decision is not None
    cautious = replace(SLOWER, decision=replace(OLD.decision, cautions=(*OLD.decision.cautions, "power capped")))
    assert ("caution", None, "power capped") in [(each.what, each.before, each.after) for each in found(cautious).said]
    assert ("caution", "power capped", None) in [(each.what, each.before, each.after) for each in found(OLD, cautious).said]


def test_an_arm_that_is_left_out_today_is_named_with_its_rule() -> None:
    gone = replace(SLOWER, arms=tuple(arm for arm in SLOWER.arms if arm.name != WAVE))
    assert [(each.what, each.before, each.after) for each in found(gone).arms] == [("wave", "measured", None)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for path, run in zip(paths, (OLD, OVERTAKEN)):
        write_pin(path, side(run).pin, "# why\n", run)
    return str(paths[0]), str(paths[1])


def test_the_command_reads_two_pins_and_leaves_with_0_whatever_differs(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    starts = []
    for options in ([], ["--md"], ["--json"]):
        assert attnpin(["diff", *files, *options]) == 0
        starts.append(capsys.readouterr().out[:14])
    assert starts == ["other flags: -", "**other flags:", '{"turn": "othe']


def test_json_is_the_whole_record() -> None:
    plain = json.loads(render_json(found(SLOWER)))
    assert plain["moved"][0]["what"] == "flashinfer-python" and plain["judged"]


def test_a_pin_whose_evidence_was_lost_is_compared_in_part(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(files[0]).with_name("old.evidence.jsonl.zst").unlink()
    assert attnpin(["diff", *files]) == 0
    assert "the older pin's evidence is not there" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nowhere.yaml"], "pin nowhere.yaml cannot be read"), (["--json", "--md"], "--json and --md are two forms of one answer")],
)
def test_a_wrong_request_leaves_with_2(
    arguments: list[str], message: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    pins = files[: 2 - sum(not word.startswith("-") for word in arguments)]
    assert attnpin(["diff", *pins, *arguments]) == 2
    assert message in capsys.readouterr().err

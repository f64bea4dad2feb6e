"""Comparisons whose answer is known: one on a simulated GPU, the others made of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.comparisons.side_by_side import SideBySide
from store.database.connect import open_store
from tests.bench.upgrades import measure, plot
from tests.bench.upgrades.building import same, slowed, upgrade
from tests.bench.upgrades.measure import CANDIDATES, KINDS, is_oracle, oracle, repeated, seed_of
from tests.bench.upgrades.page import render
from tests.bench.upgrades.rows import added, comparisons_in, finished, in_order, kept, on_hardware, read_rows, write_rows
from tests.bench.upgrades.score import judged, proofs, tally
from tests.bench.upgrades.truth import Change
from tuner.comparing.env import PRESENT
from tuner.plan import make_plan
from tuner.settings import compose

QUICK = ("gpu=simulated", "traffic=single_user", "measure.timing.blocks=2", "measure.timing.warmup_s=0")
PAIRS = 2


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("upgrades") / "attnpin.db"


@pytest.fixture(scope="module")
def measured(database: Path) -> SideBySide:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "ORACLE_PAIRS", PAIRS)
        patch.setitem(measure.KINDS, "flashinfer", measure.PROOF)
        return oracle("flashinfer", (PRESENT, PRESENT), [*QUICK, f"store.url=sqlite:///{database}"])


def test_an_oracle_ends_at_the_number_of_pairs_that_was_fixed_before(measured: SideBySide) -> None:
    assert is_oracle(measured) and len(measured.baseline.rounds) == len(measured.candidate.rounds) == PAIRS


def test_a_simulated_gpu_proves_nothing(measured: SideBySide, database: Path) -> None:
    assert [each.id for each in finished(open_store(f"sqlite:///{database}"))] == [measured.id]
    assert comparisons_in(database) == () and on_hardware(same())


def test_what_was_compared_is_not_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(measure, "open_store", lambda _: None)
    monkeypatch.setattr(measure, "finished", lambda _: iter((same(seed=2), slowed(seed=1))))
    monkeypatch.setattr(measure, "run_compare", lambda envs, overrides, *_: asked.append([envs[1].said, overrides[-1]]) or _Compared())
    assert [seed_of(each) for each in repeated(CANDIDATES["slowed"], 2, QUICK)] == [1, 7]
    assert asked == [["slowed:0.05", "measure.seed=2"]]


class _Compared:
    measured = slowed(seed=7)


def test_the_same_is_exit_0_and_the_slowed_exit_1() -> None:
    rows = (slowed(), same(), same(change=0.05))
    assert [(proof.which, proof.verdict.exit_code) for proof in proofs(rows)] == [("same", 0), ("same", 1), ("slowed", 1)]
    assert "same: exit 0 in 1 of 2 comparisons" in render(rows) and "slowed: exit 1 in 1 of 1 comparisons" in render(rows)


def test_what_is_slower_is_found_and_what_is_not_is_not() -> None:
    rows = (upgrade(1.5), upgrade(1.5, is_oracle=True))
    found, counts = judged(rows), tally(judged(rows))
    assert {each.truth.change for each in found} == {Change.SLOWER} and len({each.arm for each in found}) == 1
    assert counts.found == counts.slower == counts.called == counts.true == len(found) > 0 == counts.wrong
    assert tally(judged((upgrade(1.0), upgrade(1.0, is_oracle=True)))).called == 0


def test_a_verdict_that_the_oracle_denies_counts_against_precision_and_a_miss_against_recall() -> None:
    wrong = tally(judged((upgrade(1.5), upgrade(1.0, is_oracle=True))))
    assert wrong.wrong == wrong.called > 0 == wrong.true
    missed = tally(judged((upgrade(1.0), upgrade(1.5, is_oracle=True))))
    assert missed.slower > 0 == missed.found
    assert "differs" in render((upgrade(1.0), upgrade(1.5, is_oracle=True)))


def test_a_contest_without_an_oracle_of_its_kind_of_board_is_not_counted() -> None:
    other = upgrade(1.5, is_oracle=True)
    board = replace(other.baseline.environment.board, name="NVIDIA B200")
    sides = (replace(run, environment=replace(run.environment, board=board)) for run in (other.baseline, other.candidate))
    assert judged((upgrade(1.5), replace(other, **dict(zip(("baseline", "candidate"), sides))))) == judged((upgrade(1.5),)) == ()


def test_what_is_kept_says_the_same_and_does_not_name_its_board(tmp_path: Path) -> None:
    whole = (same(), slowed(), upgrade(1.5), upgrade(1.5, is_oracle=True))
    write_rows(map(kept, whole), tmp_path / "rows.jsonl.zst")
    again = read_rows(tmp_path / "rows.jsonl.zst")
    assert [each.id for each in again] == [each.id for each in in_order(whole)]
    assert render(again) == render(in_order(whole))
    assert again[0].baseline.environment.board.uuid != whole[0].baseline.environment.board.uuid
    assert added(again, whole) == again


def test_the_picture_has_a_line_for_each_arm_over_the_versions() -> None:
    pytest.importorskip("matplotlib")
    cell = next(weighted.cell.name for weighted in upgrade(1.5).baseline.cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "CELL", cell)
        drawn = plot.plotted((upgrade(1.5), upgrade(1.5, is_oracle=True), same()))
    assert drawn.startswith(b"<?xml") and b"0.7.1" in drawn


def test_without_any_the_page_says_so(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "rows.jsonl.zst") == () and render(()).count("Not measured yet.") == 2


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_upgrade_is_measured_on_can_run_on_an_h200(kind: str) -> None:
    plan = make_plan(compose([*KINDS[kind], "gpu=h200"]))
    assert plan.arms and plan.cells

"""The layout table from its measuring to its page, on the simulated device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.cell import PageLayout
from tests.bench.layouts import measure as measuring
from tests.bench.layouts.__main__ import main
from tests.bench.layouts.level import Place, levels_of
from tests.bench.layouts.page import NOTHING, render
from tests.bench.layouts.rows import Row, read_rows, write_rows
from tests.bench.layouts.sitting import BACKENDS, GEOMETRIES, PAGE_SIZES, SHARES, Sitting, chat_with, even, prefix_for

REFUSED = "{kind: refused, backend: triton, process: 2}"  # one arm of the second geometry
SIMULATED = ("gpu=simulated", "measure.timing.warmup_s=0", "measure.timing.blocks=2", f"gpu.simulated.faults=[{REFUSED}]")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    file = tmp_path_factory.mktemp("layouts") / "rows.jsonl.zst"
    assert main(["measure", str(file), "1", *SIMULATED]) == 0
    return read_rows(file)


def test_every_arm_is_timed_on_every_cell_of_its_geometry(rows: tuple[Row, ...]) -> None:
    cells = {geometry: {row.cell.name for row in rows if row.geometry == geometry} for geometry in GEOMETRIES}
    layouts, chats = {even(layout) for layout in PageLayout}, {chat_with(share) for share in SHARES}
    assert cells == {"32/8": layouts | chats, "16/1": layouts}
    arms = {f"{backend}/p{size}" for backend in BACKENDS for size in PAGE_SIZES}
    assert all({visit.arm for visit in row.timed.visits} == arms for row in rows if row.geometry == "32/8")


def test_an_arm_that_fails_is_left_out_and_the_others_are_timed(rows: tuple[Row, ...]) -> None:
    raced = [{arm.backend: arm for arm in row.arms} for row in rows if row.geometry == "16/1"]
    assert all(len(row.arms) == len({visit.arm for visit in row.timed.visits}) == 11 for row in rows if row.geometry == "16/1")
    assert all(set(each) == set(BACKENDS) for each in raced)


def test_only_what_a_file_lacks_is_measured(rows: tuple[Row, ...]) -> None:
    sittings = [Sitting(name, (), tuple(row.cell for row in rows if row.geometry == name), *(None,) * 2) for name in GEOMETRIES]  # type: ignore[arg-type]
    assert list(measuring.missing(rows, sittings, 1)) == []
    turns = list(measuring.missing(rows[:-1], sittings, 2))
    assert [(turn.sitting.geometry, turn.process) for turn in turns] == [("16/1", 0), ("32/8", 1), ("16/1", 1)]
    assert turns[0].sitting.cells == (rows[-1].cell,)


def test_a_prefix_holds_the_share_it_stands_for() -> None:
    prompts = (100, 300, 600)
    assert [prefix_for(share, prompts) for share in (0.0, 0.3, 0.5, 1.0)] == [0, 100, 200, 600]


def test_a_page_says_whether_random_pages_change_the_pick(rows: tuple[Row, ...]) -> None:
    assert "page 16: fa3 is the fastest as served and under random pages" in render(rows)
    slow = [_slowed(row, 1.9) if row.cell.page_layout is PageLayout.RANDOM else row for row in rows]
    ratio = levels_of(slow).us(Place("16/1", even(PageLayout.RANDOM), rows[0].arms[0]))
    assert ratio and "fa3 is the fastest as served; **layout-sensitive**: under random pages it takes 1.3" in render(slow)


def test_a_page_without_rows_says_so() -> None:
    assert render(()).endswith(NOTHING) and read_rows(Path("nowhere")) == ()


def test_rows_come_back_as_they_went(tmp_path: Path, rows: tuple[Row, ...]) -> None:
    write_rows(rows[:2], tmp_path / "rows")
    assert read_rows(tmp_path / "rows") == rows[:2]


def _slowed(row: Row, factor: float) -> Row:
    """With fa3 so much slower."""
    visits = tuple(
        replace(visit, sample_us=tuple(us * factor for us in visit.sample_us)) if visit.arm.startswith("fa3") else visit
        for visit in row.timed.visits
    )
    return replace(row, timed=replace(row.timed, visits=visits))

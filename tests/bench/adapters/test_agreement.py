"""The agreement table from its measuring to its page, on the simulated device."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from backends.arm import Provider
from tests.bench.adapters.__main__ import main
from tests.bench.adapters.measure import measure
from tests.bench.adapters.page import NOTHING, render
from tests.bench.adapters.sitting import AGREEING, CHANGED, GROUPS, settings_of, sitting_of
from tests.bench.layouts.rows import Row, read_rows, write_rows
from tests.bench.layouts.sitting import Sitting

QUICKLY = ("measure.timing.warmup_s=0", "measure.timing.blocks=2")
SIMULATED = ("gpu=simulated", *QUICKLY)
MEASURED = ("32/8 heads", "server's pool", "small pool")
PACKAGES = dict.fromkeys(("sglang", "sgl_kernel", "flashinfer", "triton", "torch", "cutlass", "quack", "flash_attn"), "1.0")


@cache
def sat(name: str) -> Sitting:
    return sitting_of(name, settings_of(name, ("gpu=h200",)), PACKAGES)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    file = tmp_path_factory.mktemp("adapters") / "rows.jsonl.zst"
    measure(file, 1, SIMULATED, MEASURED)
    return read_rows(file)


def test_an_engine_and_its_adapter_are_timed_in_one_process_on_the_same_cells(rows: tuple[Row, ...]) -> None:
    first = [row for row in rows if row.geometry == MEASURED[0]]
    assert {row.cell.name for row in first} == {"decode-16", "decode-64", "prefill-fresh"}
    arms = {"fa3/p1", "fa3/p1@kernel", "flashinfer/p1", "flashinfer/p1@kernel"}
    assert all({visit.arm for visit in row.timed.visits} == arms == {arm for arm, _ in row.kernels} for row in first)


def test_each_group_names_what_its_backends_need_and_no_more() -> None:
    for name, group in GROUPS.items():
        sitting = sat(name)
        assert {(arm.backend, arm.page_size) for arm in sitting.arms} == set(group.arms)
        assert {arm.provider for arm in sitting.arms} == set(group.providers)
        assert {cell.phase for cell in sitting.cells} == set(group.phases)
        assert sitting.stage.combined is (group.pool == "combined")
    alone = sitting_of(MEASURED[0], settings_of(MEASURED[0], ("gpu=h200",)), {"flashinfer": "1.0"})
    assert {arm.name for arm in alone.arms} == {"flashinfer/p1@kernel"}


def test_a_small_pool_has_room_for_its_cells_alone() -> None:
    small, usual = sat("small pool"), sat("server's pool")
    assert small.stage.pool_tokens and usual.stage.pool_tokens and small.stage.pool_tokens < usual.stage.pool_tokens
    assert all(sum(cell.context_lens) <= small.stage.pool_tokens for cell in small.cells)


def test_the_page_says_who_agrees_and_what_an_arm_launches_that_the_other_does_not(rows: tuple[Row, ...]) -> None:
    page = render(rows)
    assert "| fa3, page 1 | decode-64 |" in page and "| agrees | nothing: the same kernels in the same grids |" in page
    assert "| small pool | fa3, page 16 | decode-16 |" in page
    slow = [_slower(row, 1.05) for row in rows]
    line = next(line for line in render(slow).splitlines() if line.startswith("| fa3, page 1 | decode-64 |"))
    assert "| differs | engine: simulated" in line and "adapter: attnpin_copy_rows 64x1x1 |" in line


def test_every_change_is_told_and_a_page_without_rows_says_so() -> None:
    assert render(()).endswith(NOTHING) and set(AGREEING).isdisjoint(CHANGED)


def test_a_wrong_command_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "file"]) == 2 and "PROCESSES" in capsys.readouterr().err


def test_what_is_there_is_not_measured_again(tmp_path: Path, rows: tuple[Row, ...]) -> None:
    file = tmp_path / "rows"
    write_rows([row for row in rows if row.geometry == MEASURED[0]], file)
    before = file.read_bytes()
    measure(file, 1, SIMULATED, MEASURED[:1])
    assert file.read_bytes() == before


def _slower(row: Row, factor: float) -> Row:
    """Adapters so much slower, which write keys and values in another way."""
    adapters = {arm.name for arm in row.arms if arm.provider is Provider.KERNEL}
    visits = tuple(
        replace(visit, sample_us=tuple(us * factor for us in visit.sample_us)) if visit.arm in adapters else visit
        for visit in row.timed.visits
    )
    kernels = tuple((arm, ("attnpin_copy_rows @ 64x1x1", *names[1:]) if arm in adapters else names) for arm, names in row.kernels)
    return replace(row, timed=replace(row.timed, visits=visits), kernels=kernels)

"""The cells of the contest."""

from __future__ import annotations

import pytest

from backends.cell import Phase
from backends.kv.rotation import slots_wanted
from tests.bench.peers.cells import BATCHES, CHUNKS, CONTEXTS, FLIPPED, LARGE, PREFIXES, SMALL, Ground, ground_of, group_of, settings_of

H200_CACHE, TOKEN_BYTES, POOLS_BYTES = 60 << 20, 4096, 70e9


@pytest.fixture(scope="module")
def ground() -> Ground:
    return ground_of(settings_of(["gpu=simulated"]), {"sglang": "0.5.16", "sgl_kernel": "0.4", "flashinfer": "0.6.14", "triton": "3.6.0"})


def test_decode_and_prefill_are_whole_grids_that_a_server_could_hold(ground: Ground) -> None:
    assert len(ground.cells) == len(BATCHES) * len(CONTEXTS) + len(CHUNKS) * len(PREFIXES) == 51
    assert set(FLIPPED) <= set(ground.cells)
    assert ground.stage.pool_tokens is not None
    assert max(sum(cell.context_lens) for cell in ground.cells.values()) <= ground.stage.pool_tokens


def test_requests_of_a_batch_differ_and_are_as_long_as_it_says_on_average(ground: Ground) -> None:
    cell = ground.cells["decode-64x4096"]
    assert sum(cell.context_lens) == pytest.approx(64 * 4096, rel=1e-3)
    assert (min(cell.context_lens), max(cell.context_lens)) == (2048, 6144)


@pytest.mark.parametrize("group", [SMALL, LARGE])
def test_a_groups_pools_fit_the_gpu_with_as_many_slots_as_its_coldest_cell_wants(ground: Ground, group: str) -> None:
    mine = [cell for cell in ground.cells.values() if group_of(cell) == group]
    slots = max(slots_wanted(cell, H200_CACHE, 2, "cuda") for cell in mine)
    assert slots * max(sum(cell.context_lens) for cell in mine) * TOKEN_BYTES < POOLS_BYTES
    assert {cell.phase for cell in mine} == set(Phase)

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import PageLayout, Phase, kv_bytes, visible_keys
from backends.kv.layout import pages_needed
from store.scenario import WeightedCell
from store.traffic import Lengths, Traffic
from tests.tuner.scenarios import CHAT, GEMMA3, LLAMA, scenario, server
from tuner.workload.cells import Workload, cells_for
from tuner.workload.lengths import mean_tokens

lengths = st.builds(lambda median, factor: Lengths(median, round(median * factor)), st.integers(1, 60_000), st.floats(1.0, 8.0))
traffics = st.builds(
    *(Traffic, st.just("drawn"), lengths, lengths, st.integers(1, 300), st.floats(0.0, 0.95), st.just("drawn by hypothesis")),
    shared_prefix_tokens=st.one_of(st.just(0), st.integers(0, 3000)),
)


def workload(traffic: Traffic = CHAT, seed: int = 0, page_size: int = 1, asked: object = LLAMA, **sizes: object) -> Workload:
    case = scenario(asked=asked, traffic=traffic, seed=seed)  # type: ignore[arg-type]
    return cells_for(case, server(**sizes), case.model.layers, page_size)


def of(phase: Phase, cells: tuple[WeightedCell, ...]) -> list[WeightedCell]:
    return [weighted for weighted in cells if weighted.cell.phase is phase]


@settings(max_examples=60, deadline=None)
@given(traffics, st.integers(0, 2**31), st.sampled_from([1, 16, 64]), st.integers(500, 10**6))
def test_the_shares_of_a_phase_sum_to_one_and_lengths_stay_within_the_server(
    traffic: Traffic, seed: int, page_size: int, pool: int
) -> None:
    cells = workload(traffic, seed, page_size, pool_tokens=pool, context_length=40960).cells
    for phase in Phase:
        assert sum(weighted.token_share for weighted in of(phase, cells)) == pytest.approx(1.0)
    for weighted in cells:
        assert max(weighted.cell.context_lens) <= min(40960, pool)
        assert weighted.cell.new_tokens <= 8192
        assert pages_needed(weighted.cell, page_size) * page_size <= pool or weighted.cell.batch == 1
        assert weighted.calls_per_1000_tokens > 0
    assert len(of(Phase.DECODE, cells)) <= 12 and len(of(Phase.PREFILL, cells)) <= 8


@settings(max_examples=30, deadline=None)
@given(traffics, st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_cells(traffic: Traffic, seed: int) -> None:
    assert workload(traffic, seed) == workload(traffic, seed)


def test_a_shared_prefix_is_read_once_and_moves_no_length() -> None:
    alone, shared = (of(Phase.DECODE, workload(replace(CHAT, shared_prefix_tokens=tokens)).cells) for tokens in (0, 500))
    for without, with_it in zip(alone, shared, strict=True):
        cell = with_it.cell
        assert cell.context_lens == without.cell.context_lens
        assert visible_keys(cell) == visible_keys(without.cell) - sum(cell.shared_lens) + max(cell.shared_lens)
        assert kv_bytes(cell, 2) < kv_bytes(without.cell, 2)


def test_a_window_sees_only_the_shared_keys_inside_it() -> None:
    window = next(kind for kind in GEMMA3.layers if kind.sliding_window)
    cell = replace(of(Phase.DECODE, workload(replace(CHAT, shared_prefix_tokens=200)).cells)[0].cell, layer=window)
    seen = {
        (token if token < shared else (request, token))
        for request, (context, shared) in enumerate(zip(cell.context_lens, cell.shared_lens))
        for token in range(max(0, context - (window.sliding_window or 0)), context)
    }
    assert visible_keys(cell) == len(seen)


def test_pages_lie_where_the_measure_wants_them() -> None:
    case = scenario(asked=LLAMA, traffic=CHAT)
    case = replace(case, measure=replace(case.measure, page_layout=PageLayout.RANDOM))
    assert {weighted.cell.page_layout for weighted in cells_for(case, server(), case.model.layers, 1).cells} == {PageLayout.RANDOM}


def test_another_seed_gives_other_lengths() -> None:
    assert workload(seed=1).cells != workload(seed=2).cells


def test_decode_runs_at_a_quarter_half_and_all_of_the_concurrency() -> None:
    decode = of(Phase.DECODE, workload(replace(CHAT, concurrency=50)).cells)
    assert [(weighted.cell.batch, weighted.token_share) for weighted in decode] == [(13, 0.2), (25, 0.3), (50, 0.5)]
    assert [weighted.cell.padded_batch for weighted in decode] == [16, 32, 64]


def test_a_batch_above_the_captured_sizes_is_launched_as_it_is() -> None:
    decode = of(Phase.DECODE, workload(replace(CHAT, concurrency=200)).cells)
    assert [weighted.cell.padded_batch for weighted in decode] == [64, 100, 200]


def test_equal_batches_are_one_cell_with_both_shares() -> None:
    decode = of(Phase.DECODE, workload(replace(CHAT, concurrency=1)).cells)
    assert [(weighted.cell.batch, weighted.token_share) for weighted in decode] == [(1, 1.0)]


def test_steps_follow_from_tokens() -> None:
    cells = workload().cells
    for weighted in of(Phase.DECODE, cells):
        assert weighted.calls_per_1000_tokens == pytest.approx(1000 * weighted.token_share / weighted.cell.batch)
    tokens = sum(weighted.calls_per_1000_tokens * weighted.cell.new_tokens for weighted in of(Phase.PREFILL, cells))
    expected = 1000 * 0.7 * mean_tokens(CHAT.prompt, 131072) / mean_tokens(CHAT.output, 131072)
    assert tokens == pytest.approx(expected)


def test_contexts_are_ragged_and_hold_prompt_and_output() -> None:
    for weighted in of(Phase.DECODE, workload().cells):
        assert len(set(weighted.cell.context_lens)) > 1
        assert all(prompt < context for prompt, context in zip(weighted.cell.prompt_lens, weighted.cell.context_lens, strict=True))


def test_one_prefill_cell_is_fresh_and_the_other_has_prefixes() -> None:
    fresh, prefix = of(Phase.PREFILL, workload().cells)
    assert set(fresh.cell.prefix_lens) == {0}
    assert min(prefix.cell.prefix_lens) > 0
    assert (fresh.cell.new_tokens, prefix.cell.new_tokens) == (8192, 8192)


def test_short_prompts_without_a_cache_have_no_prefix_cell() -> None:
    short = replace(CHAT, prompt=Lengths(100, 200), cached_share=0.0)
    assert [weighted.cell.name for weighted in of(Phase.PREFILL, workload(short).cells)] == ["prefill-fresh"]


def test_each_layer_kind_has_every_cell_with_its_own_number_of_layers() -> None:
    cells = workload(asked=GEMMA3).cells
    assert {(weighted.cell.layer.name, weighted.layers) for weighted in cells} == {("full", 10), ("window", 52)}
    assert len({weighted.cell.name for weighted in cells}) == len(cells) == 10


def test_dropped_batches_are_said_and_the_rest_count_fully() -> None:
    made = workload(pool_tokens=45_000)
    assert [(weighted.cell.batch, weighted.token_share) for weighted in of(Phase.DECODE, made.cells)] == [(16, 1.0)]
    assert [note.split(" ")[0] for note in made.notes] == ["decode-32", "decode-64"]


def test_where_no_batch_fits_decode_shrinks_to_one_that_does() -> None:
    made = workload(pool_tokens=9_000)
    (decode,) = of(Phase.DECODE, made.cells)
    assert decode.cell.batch < 16
    assert made.notes[-1] == f"decode is timed at batch {decode.cell.batch} alone, the largest that fits"

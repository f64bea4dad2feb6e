"""How ranks share attention, and the splits that do not come out even."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Phase
from backends.model import LayerKind
from tests.asking import FULL, MLA
from tests.tuner.scenarios import CHAT, engine
from tuner.workload.ranks import Ranks, phase_kind, rank_kind, rank_lengths, rank_traffic, ranks_of, uneven


def complaints(ranks: Ranks, kind: LayerKind = FULL, architecture: str = "LlamaForCausalLM") -> list[str]:
    return list(uneven(ranks, [kind], architecture))


@pytest.mark.parametrize(
    ("ranks", "attention"), [(Ranks(8), 8), (Ranks(8, attn_dp=8), 1), (Ranks(8, attn_dp=2), 4), (Ranks(16, attn_dp=2, attn_cp=2), 4)]
)
def test_groups_and_shares_of_a_prefill_leave_the_rest_to_the_heads(ranks: Ranks, attention: int) -> None:
    assert ranks.attention == attention


def test_the_engine_s_sizes_are_the_ranks() -> None:
    assert ranks_of(engine(tensor_parallel=16, attn_dp_size=2, attn_cp_size=4, dcp_size=2)) == Ranks(16, 2, 4, 2)


@pytest.mark.parametrize(("ranks", "heads"), [(Ranks(1), (32, 8)), (Ranks(8), (4, 1)), (Ranks(16), (2, 1)), (Ranks(8, attn_dp=4), (16, 4))])
def test_heads_are_divided_over_the_attention_ranks_and_kv_heads_replicated_where_there_are_fewer(
    ranks: Ranks, heads: tuple[int, int]
) -> None:
    kind = rank_kind(FULL, ranks)
    assert (kind.query_heads, kind.kv_heads) == heads


def test_the_latent_is_whole_on_every_rank() -> None:
    assert [rank_kind(MLA, ranks).query_heads for ranks in (Ranks(8), Ranks(8, attn_dp=8))] == [16, 128]
    assert rank_kind(MLA, Ranks(8)).kv_heads == 1


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        (Ranks(3), "32 query heads do not divide over 3 attention ranks (engine.tensor_parallel=3); choose a number of ranks"),
        (
            Ranks(8, attn_dp=3),
            "engine.tensor_parallel=8 / engine.attn_dp_size=3 does not come out even; choose sizes",
        ),
        (Ranks(8, attn_dp=16), "engine.tensor_parallel=8 / engine.attn_dp_size=16 does not come out even"),
        (
            Ranks(12, attn_dp=2, attn_cp=4),
            "engine.tensor_parallel=12 / engine.attn_dp_size=2 / engine.attn_cp_size=4 does not come out even",
        ),
        (Ranks(12, attn_dp=2), "32 query heads do not divide over 6 attention ranks (engine.tensor_parallel=12 / engine.attn_dp_size=2)"),
        (Ranks(8, dcp=3), "engine.dcp_size=3 does not divide the 8 attention ranks (engine.tensor_parallel=8)"),
        (Ranks(8, dcp=2), "engine.dcp_size=2 leaves 4 groups of ranks for 8 KV heads, and SGLang splits the keys of LlamaForCausalLM"),
    ],
)
def test_a_split_that_is_not_even_names_the_numbers(ranks: Ranks, said: str) -> None:
    (complaint,) = complaints(ranks)
    assert complaint.startswith(said)


def test_kv_heads_must_divide_or_be_replicated_evenly() -> None:
    (many,) = complaints(Ranks(4), replace(FULL, query_heads=24, kv_heads=6))
    (few,) = complaints(Ranks(8), replace(FULL, query_heads=24, kv_heads=3))
    assert many.startswith("6 KV heads do not divide over 4 attention ranks")
    assert few.startswith("3 KV heads cannot be replicated evenly on 8 attention ranks")


def test_even_splits_raise_no_complaint() -> None:
    assert not complaints(Ranks(8)) and not complaints(Ranks(8, attn_dp=8), MLA) and not complaints(Ranks(8, dcp=8), MLA)
    assert not complaints(Ranks(8, dcp=2), replace(FULL, kv_heads=4))
    assert not complaints(Ranks(8, dcp=2), FULL, "Qwen3_5ForCausalLM")


def test_ranks_that_split_a_context_hold_the_same_kv_head_and_ask_with_all_their_queries() -> None:
    kind = rank_kind(replace(FULL, kv_heads=4), Ranks(8, dcp=2))
    assert (kind.query_heads, kind.kv_heads) == (4, 1)
    assert phase_kind(kind, Ranks(8, dcp=2), Phase.DECODE).query_heads == 8
    assert phase_kind(kind, Ranks(8, dcp=2), Phase.PREFILL).query_heads == 4


def test_a_rank_holds_its_share_of_a_context_rounded_up_in_decode_alone() -> None:
    assert rank_lengths((1, 7, 8), Ranks(8, dcp=4), Phase.DECODE) == (1, 2, 2)
    assert rank_lengths((1, 7, 8), Ranks(8, dcp=4), Phase.PREFILL) == (1, 7, 8)


def test_a_group_runs_its_share_of_the_requests_rounded_up() -> None:
    assert rank_traffic(replace(CHAT, concurrency=65), Ranks(8, attn_dp=8)).concurrency == 9
    assert rank_traffic(CHAT, Ranks(8)) == CHAT

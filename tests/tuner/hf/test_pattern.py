"""Which layers attend and how, by each way that configurations have of saying it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tuner.hf.configuring import LATENT, changed, reading
from tuner.hf.layer import Layer
from tuner.hf.pattern import layers_of
from tuner.hf.shape import shape_of

F, W, C, S, M, B, N, X = Layer.FULL, Layer.WINDOW, Layer.CHUNK, Layer.SPARSE, Layer.MIXER, Layer.BOTH, Layer.NEITHER, Layer.MLP
WINDOW = {"sliding_window": 4096}


@pytest.mark.parametrize(
    ("layers", "config"),
    [
        ([F] * 4, {}),
        ([F, W, F, W], {"layer_types": ["full_attention", "sliding_attention"] * 2, **WINDOW}),
        ([F, M], {"layers_block_type": ["attention", "mamba"]}),
        ([M, M, F, M], {"block_types": ["recurrent", "recurrent", "attention"]}),
        ([M, F, X, X], {"hybrid_override_pattern": "M*-E"}),
        ([F, W, W, F], {"hybrid_layer_pattern": [0, 1, 1, 0], **WINDOW}),
        ([M, M, M, F], {"attn_type_list": [0, 0, 0, 1]}),
        ([M, F, M, F], {"attn_layer_indices": [1, 3]}),
        ([M, F, M, F], {"full_attn_idxs": [1, 3]}),
        ([F, M, F, M], {"linear_attn_config": {"full_attn_layers": [1, 3]}}),
        ([M, F, M, F], {"attn_layer_period": 2, "attn_layer_offset": 1}),
        ([M, F, M, F], {"full_attention_interval": 2}),
        ([F, N, N, F], {"block_configs": [{"attention": one} for one in ({}, {"no_op": True}, {"replace_with_linear": True}, {})]}),
        ([S] * 4, {"compress_ratios": [4, 4, 128, 4]}),
        ([B] * 4, {"model_type": "falcon_h1"}),
        ([F, W, W, W, W, F, W, W], {"model_type": "mimo_v2_flash", "num_hidden_layers": 8}),
        ([C, C, C, F], {"attention_chunk_size": 8192}),
        ([F, C, F, C], {"attention_chunk_size": 8192, "no_rope_layers": [0, 1, 0, 1]}),
        ([W] * 4, WINDOW),
        ([F] * 4, {"sliding_window": None, "layer_types": None}),
        ([F] * 4, {"use_sliding_window": False, **WINDOW}),
        ([F, F, F, W], {"use_sliding_window": True, "max_window_layers": 3, **WINDOW}),
        ([F] * 4, {"use_sliding_window": True, "max_window_layers": 28, **WINDOW}),
        ([W, F, W, F], {"sliding_window_pattern": 2, **WINDOW}),
        ([W, W, W, F], {"sliding_window_pattern": "LLLG", **WINDOW}),
        ([W, F, W, F], {"_sliding_window_pattern": 2, **WINDOW}),
        ([W, F, W, F], {"sliding_window": [4096, None]}),
        ([F] * 8, {"model_type": "longcat_flash"}),
        ([F] * 12, {"loop_num": 3}),
    ],
)
def test_the_layers_are_those_that_the_configuration_speaks_of(layers: list[Layer], config: dict[str, Any]) -> None:
    given = changed(**{"num_hidden_layers": min(len(layers), 4), **config})
    assert layers_of(shape_of(given).config) == layers


def test_layers_of_a_draft_head_are_left_out() -> None:
    config = changed(layer_types=["full_attention"] * 5)
    assert layers_of(config) == [F] * 4


def test_a_chunk_is_planned_as_a_window_and_said() -> None:
    read = reading(changed(attention_chunk_size=2048))
    assert [(kind["name"], kind["layers"], kind["sliding_window"]) for kind in read.values["layers"]] == [
        ("chunk", 3, 2048),
        ("full", 1, None),
    ]
    assert any("chunked attention is planned as a sliding window" in note for note in read.notes)


def test_a_window_no_shorter_than_the_context_hides_nothing() -> None:
    (kind,) = reading(changed(sliding_window=8192)).values["layers"]
    assert (kind["name"], kind["sliding_window"]) == ("full", None)


def test_layers_without_attention_are_counted_apart() -> None:
    read = reading(changed(layer_types=["linear_attention", "linear_attention", "linear_attention", "full_attention"]))
    assert [kind["layers"] for kind in read.values["layers"]] == [1] and read.values["other_layers"] == 3
    assert any("3 of 4 layers have Mamba, linear attention or a convolution" in note for note in read.notes)


def test_layers_with_a_mixer_beside_attention_count_as_both() -> None:
    read = reading(changed(model_type="falcon_h1"))
    assert [kind["layers"] for kind in read.values["layers"]] == [4] and read.values["other_layers"] == 4


def test_heads_and_widths_may_differ_by_layer_and_make_kinds_of_their_own() -> None:
    read = reading(changed(num_attention_heads=[32, 32, 64, 64], num_key_value_heads=[8, 8, 8, 8], head_dim=128))
    kinds = [(kind["name"], kind["layers"], kind["query_heads"]) for kind in read.values["layers"]]
    assert kinds == [("full", 2, 32), ("full-2", 2, 64)]


def test_an_indexer_is_said_since_all_keys_are_planned() -> None:
    assert any("an indexer chooses the keys" in note for note in reading(changed(LATENT, index_topk=2048)).notes)


def test_layers_that_share_keys_and_values_are_said() -> None:
    assert any("2 layers read the keys and values of earlier ones" in note for note in reading(changed(num_kv_shared_layers=2)).notes)


def test_alibi_is_said() -> None:
    for alibi in ({"model_type": "bloom"}, {"alibi": True}, {"position_embedding_type": "alibi"}):
        assert any("ALiBi" in note for note in reading(changed(**alibi)).notes)
    assert not any("ALiBi" in note for note in reading(changed()).notes)


def test_layers_that_are_passed_again_have_the_experts_of_the_first_pass() -> None:
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 512}
    marks = ["dense", "sparse", "sparse", "sparse"]
    looped = reading(changed(**experts, mlp_layer_types=marks, loop_num=2))
    written_out = reading(changed(**experts, mlp_layer_types=[*marks, *marks], num_hidden_layers=8))
    assert looped.values["params_total"] == written_out.values["params_total"]

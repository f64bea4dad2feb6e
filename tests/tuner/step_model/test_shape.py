from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.model import Attention, Model
from tests.tuner.building import MODEL, decode, prefill
from tests.tuner.composed import composed
from tuner.step_model.shape import EXPERTS_A_TOKEN, shape_of, vocabulary_matrices, why_no_shape
from tuner.workload.ranks import Ranks

# intermediate_size of the checkpoints' config.json; of mixtures moe_intermediate_size and num_experts
WIDTHS = {
    **{"qwen3_8b": 12288, "qwen3_32b": 25600, "qwen2_5_7b": 18944, "llama3_1_8b": 14336, "llama3_1_70b": 28672, "mistral_7b": 14336},
    **{"gemma2_9b": 14336, "gemma3_4b": 10240, "gemma3_27b": 21504},
}
MIXTURES = {"qwen3_235b_a22b": (128, 1536), "qwen3_30b_a3b": (128, 768)}


def preset(name: str) -> Model:
    return composed(f"model={name}", "gpu=h200").scenario.model


@pytest.mark.parametrize("name", WIDTHS)
def test_the_width_of_an_mlp_follows_from_the_parameters(name: str) -> None:
    shape = shape_of(preset(name), Ranks(1), decode().cell)
    assert shape is not None and (shape.experts, shape.mlp_width) == (1, WIDTHS[name])


@pytest.mark.parametrize(("name", "matrices"), [*((name, 1 if name.startswith("gemma") else 2) for name in WIDTHS), ("qwen3_30b_a3b", 2)])
def test_whether_the_head_is_the_embedding_follows_from_the_parameters_too(name: str, matrices: int) -> None:
    assert vocabulary_matrices(preset(name)) == matrices


@pytest.mark.parametrize("name", MIXTURES)
def test_the_experts_of_a_mixture_follow_from_the_two_figures_of_parameters(name: str) -> None:
    shape = shape_of(preset(name), Ranks(1), decode().cell)
    assert shape is not None and (shape.experts, shape.mlp_width) == MIXTURES[name]
    assert shape.experts_per_token == EXPERTS_A_TOKEN


@pytest.mark.parametrize("name", ["qwen3_8b", "qwen3_32b", "qwen3_235b_a22b"])
def test_all_weights_of_a_model_are_in_its_step_but_the_table_of_embeddings(name: str) -> None:
    model = preset(name)
    shape = shape_of(model, Ranks(1), prefill(new=8192).cell)
    assert shape is not None
    assert shape.weight_bytes() == pytest.approx(2 * (model.params_total - model.vocab_size * model.hidden_size), rel=0.01)


def test_rows_are_the_padded_batch_in_decode_and_the_chunk_in_prefill() -> None:
    step = shape_of(MODEL, Ranks(1), replace(decode(batch=60).cell, padded_batch=64))
    chunk = shape_of(MODEL, Ranks(1), prefill(new=4096).cell)
    assert step and chunk
    assert (step.rows, step.logit_rows) == (64, 64)
    assert (chunk.rows, chunk.logit_rows) == (4096, 1)


@given(tensor=st.sampled_from([1, 2, 4, 8]))
def test_ranks_share_weights_and_products(tensor: int) -> None:
    one, each = (shape_of(MODEL, Ranks(ranks), decode(batch=8).cell) for ranks in (1, tensor))
    assert one and each
    assert tensor * each.weight_bytes() == pytest.approx(one.weight_bytes(), rel=0.01)
    assert tensor * each.flops() == pytest.approx(one.flops(), rel=0.01)


def test_groups_of_requests_project_their_own_tokens_and_share_the_rest() -> None:
    grouped = shape_of(MODEL, Ranks(4, attn_dp=4), decode(batch=8).cell)
    assert grouped and (grouped.rows, grouped.mlp_rows) == (8, 32)


@pytest.mark.parametrize(
    "model, words",
    [
        (replace(MODEL, attention=Attention.MLA), "latent attention"),
        (replace(MODEL, other_layers=24), "24 layers without attention"),
        (replace(MODEL, weight_bits=8.0), "quantized weights"),
        (replace(MODEL, params_total=1e9, params_active=1e9), "no parameters"),
    ],
)
def test_what_torch_cannot_stand_in_for_stays_predicted_and_is_said(model: Model, words: str) -> None:
    assert words in (why_no_shape(model) or "")
    assert shape_of(model, Ranks(1), decode().cell) is None


def test_a_verify_step_multiplies_every_drafted_token_and_has_logits_of_each() -> None:
    plain = decode().cell
    verify = replace(plain, draft=(-1, 0, 1, 2), new_lens=(4,) * plain.batch)
    shape, usual = (shape_of(MODEL, Ranks(1), cell) for cell in (verify, plain))
    assert shape is not None and usual is not None
    assert (shape.rows, shape.logit_rows) == (4 * usual.rows, 4 * usual.logit_rows)

"""Layers that cannot be, each refused with the kind, the value and what to do."""

from __future__ import annotations

import pytest

from tests.tuner.composed import composed, refusal


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("model.layers.0.head_dim=0", "layer kind 'full' of model tiny has a size below 1; correct model.layers"),
        ("model.layers.0.layers=-1", "has a size below 1"),
        ("model.layers.0.sliding_window=0", "has a size below 1"),
        ("model.layers.0.kv_heads=3", "8 query heads do not divide over 3 KV heads; correct model.layers ('full')"),
        ("model.layers.0.scale=0", "layer kind 'full' of model tiny has scale 0.0; it must be above 0"),
        ("model.layers.0.scale=-1", "has scale -1.0"),
        ("model.layers.0.scale=nan", "has scale nan"),
        ("model.layers.0.scale=inf", "has scale inf"),
        ("model.attention=mla", "latent attention (mla) has 1 KV head whose keys hold the values, such as 576/512"),
        ("model.layers=[]", "model tiny has no layers; give model.layers at least one kind"),
        ("model.weight_bits=0", "model.weight_bits=0.0 is not possible; it must be above 0"),
        ("model.attention_params=-1", "model.attention_params=-1.0 is not possible"),
        ("model.other_layers=-1", "model.other_layers=-1 is not possible; it must be 0 or more"),
        ("engine.attn_dp_size=0", "engine.attn_dp_size=0 is not possible; it must be at least 1"),
        ("engine.attn_cp_size=-2", "engine.attn_cp_size=-2 is not possible"),
        ("engine.dcp_size=0", "engine.dcp_size=0 is not possible"),
        ("engine.attn_dp_size=2", "engine.tensor_parallel=1 / engine.attn_dp_size=2 does not come out even"),
        ("engine.role=decoder", "engine.role"),
    ],
)
def test_a_geometry_that_cannot_be_is_refused_in_one_sentence(override: str, said: str) -> None:
    text = refusal(override)
    assert said in text and "\n" not in text


def test_values_wider_than_the_keys_that_hold_them_are_refused() -> None:
    assert "has 1 KV heads of 576/600" in refusal("model=deepseek_v3", "model.layers.0.value_head_dim=600")


def test_a_model_that_sets_a_scale_and_sinks_keeps_them() -> None:
    (kind,) = composed("model.layers.0.scale=0.5", "model.layers.0.sinks=true").scenario.model.layers
    assert (kind.softmax_scale, kind.sinks) == (0.5, True)

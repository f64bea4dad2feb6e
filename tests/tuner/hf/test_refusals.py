"""Configurations that cannot be: each refused in one sentence that names the field and its value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tuner.hf.configuring import LATENT, LEFT_OUT, LLAMA, changed, reading
from tuner.errors import UsageError


def refusal(config: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as refused:
        reading(config)
    text = str(refused.value)
    assert "\n" not in text and len(text) < 400
    return text


EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_hidden_layers": -4}, "num_hidden_layers of config.json is -4; it must be a whole number from 1"),
        ({"num_hidden_layers": 0}, "num_hidden_layers of config.json is 0"),
        ({"num_hidden_layers": 10**9}, "config.json has 1000000000 layers, and attnpin reads at most 10000"),
        ({"hidden_size": 10**15}, "hidden_size of config.json is 1000000000000000"),
        ({"hidden_size": "4096"}, "hidden_size of config.json is '4096'; it must be a whole number"),
        ({"hidden_size": 4096.5}, "hidden_size of config.json is 4096.5"),
        ({"hidden_size": float("nan")}, "hidden_size of config.json is nan"),
        ({"hidden_size": float("inf")}, "hidden_size of config.json is inf"),
        ({"hidden_size": True}, "hidden_size of config.json is True"),
        ({"hidden_size": [4096]}, "hidden_size of config.json is [4096]"),
        ({"model_type": "made_up", "hidden_size": LEFT_OUT}, "config.json has no hidden_size"),
        ({"model_type": "made_up", "num_attention_heads": None}, "config.json has no num_attention_heads"),
        ({"head_dim": 0}, "head_dim of config.json is 0; it must be a whole number from 1"),
        ({"num_key_value_heads": 0}, "num_key_value_heads of config.json is 0"),
        ({"num_key_value_heads": 5}, "config.json has 32 query heads and 5 KV heads, which do not divide"),
        ({"num_attention_heads": 8192}, "config.json has more query heads (8192) than hidden_size"),
        ({"max_position_embeddings": -1}, "max_position_embeddings of config.json is -1"),
        ({"torch_dtype": 16}, "torch_dtype of config.json is 16; it must be a text"),
        ({"rope_scaling": "yarn"}, "rope_scaling of config.json is 'yarn'; it must be an object"),
        ({"rope_scaling": {"factor": "4"}}, "factor of config.json is '4'; it must be a number above 0"),
        ({"rope_scaling": {"factor": 1e300}}, "factor of config.json is 1e+300"),
        ({"rope_scaling": {"factor": float("nan")}}, "factor of config.json is nan"),
        ({"sliding_window": [], "layer_types": ["sliding_attention"] * 4}, "layers with a sliding window and no sliding_window"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings of config.json is 'no'; it must be true or false"),
        ({"layer_types": ["full_attention"]}, "config.json names 1 layers and has num_hidden_layers=4; give a complete one"),
        ({"layer_types": ["full_attention"] * 3 + ["telepathy"]}, "layer type 'telepathy' of config.json is unknown to attnpin"),
        ({"layer_types": "full_attention"}, "layer_types of config.json is 'full_attention'; it must be a list"),
        ({"layer_types": ["mamba"] * 4}, "config.json describes no layer with attention"),
        ({"hybrid_override_pattern": "M*?X"}, "letters unknown to attnpin ('?', 'X')"),
        ({"layer_types": ["sliding_attention"] * 4}, "config.json has layers with a sliding window and no sliding_window"),
        ({"sliding_window": "wide"}, "sliding_window of config.json is 'wide'"),
        ({"sliding_window": 1024, "sliding_window_pattern": -1}, "sliding_window_pattern of config.json is -1"),
        ({"sliding_window": 1024, "sliding_window_pattern": "LXG"}, "sliding_window_pattern of config.json is 'LXG'"),
        ({"model_type": "mamba2"}, "a mamba2 model has no attention layers, so there is no attention backend to choose"),
        ({"model_type": "t5", "is_encoder_decoder": True}, "config.json describes an encoder and a decoder (t5)"),
        ({"model_type": 7}, "model_type of config.json is 7; it must be a text"),
        ({"architectures": "LlamaForCausalLM"}, "architectures of config.json is 'LlamaForCausalLM'; it must be a list"),
        ({"architectures": ["${oc.env:HOME}"]}, "architectures of config.json holds '${oc.env:HOME}'; it must name model classes"),
        ({"architectures": [None]}, "architectures of config.json holds None"),
        ({"text_config": []}, "text_config of config.json is []; it must be an object"),
        ({"quantization_config": "fp8"}, "quantization_config of config.json is 'fp8'; it must be an object"),
        ({"num_key_value_heads": [8, 8, 8, 3]}, "32 query heads and 3 KV heads"),
        ({"num_key_value_heads": [8, 8, 8]}, "num_key_value_heads of config.json has 3 entries for 4 layers; give one a layer"),
        (
            {**EXPERTS, "mlp_layer_types": ["dense", "sparse"]},
            "mlp_layer_types of config.json has 2 entries for 4 layers; give one a layer",
        ),
        ({**EXPERTS, "moe_layer_freq": [0, 1, 1]}, "moe_layer_freq of config.json has 3 entries for 4 layers; give one a layer"),
        ({"num_attention_heads": []}, "num_attention_heads of config.json has 0 entries for 4 layers; give one a layer"),
        (
            {"rope_scaling": {"type": "linear", "factor": 1e9}},
            "a context of 8192000000000 tokens (8192 x 1e+09), and attnpin plans",
        ),
        ({"max_position_embeddings": 10**9}, "a context of 1000000000 tokens (1000000000 x 1), and attnpin plans at most 100000000;"),
        (
            {"quantization_config": {"quant_method": "awq", "bits": 10**9}},
            "bits of config.json is 1000000000; it must be a whole number from 1 to 32",
        ),
        (
            {"quantization_config": {"quant_method": "gptq", "w_bit": 33}},
            "w_bit of config.json is 33; it must be a whole number from 1 to 32",
        ),
        (
            {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 64}}}}},
            "num_bits of config.json is 64; it must be a whole number from 1 to 32",
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(changed(LLAMA, **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"qk_nope_head_dim": 0}, "qk_nope_head_dim of config.json is 0"),
        ({"qk_nope_head_dim": LEFT_OUT, "model_type": "made_up"}, "config.json has no qk_nope_head_dim"),
        ({"kv_lora_rank": -512}, "kv_lora_rank of config.json is -512"),
    ],
)
def test_a_latent_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(changed(LATENT, **changes))


def test_a_long_value_is_not_repeated_whole() -> None:
    assert len(refusal(changed(hidden_size="x" * 100_000))) < 200


FIELDS = sorted(
    {*LATENT, "layer_types", "sliding_window", "sliding_window_pattern", "max_window_layers", "use_sliding_window", "text_config"}
    | {"quantization_config", "rope_scaling", "num_experts", "num_experts_per_tok", "moe_layer_freq", "block_configs", "attn_config"}
    | {"hybrid_override_pattern", "hybrid_layer_pattern", "attn_type_list", "linear_attn_config", "full_attn_idxs", "mlp_layer_types"}
    | {"attention_chunk_size", "no_rope_layers", "query_pre_attn_scalar", "attn_logit_softcapping", "attn_layer_period", "loop_num"}
)
plain = st.none() | st.booleans() | st.integers(-3, 70) | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=4)
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([LLAMA, LATENT]), st.dictionaries(st.sampled_from(FIELDS), values, max_size=5))
def test_whatever_stands_in_a_field_is_read_or_refused_in_a_sentence(base: dict[str, Any], changes: dict[str, Any]) -> None:
    try:
        read = reading({**base, **changes})
    except UsageError as error:
        assert "config.json" in str(error) or "model has no attention" in str(error)
        assert "\n" not in str(error) and len(str(error)) < 400
    else:
        assert all(kind["layers"] >= 1 and kind["head_dim"] >= 1 for kind in read.values["layers"])
        assert read.values["params_total"] >= read.values["params_active"] > 0

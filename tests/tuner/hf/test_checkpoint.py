"""The model of a configuration, and what is said of guesses, defaults and fields that nobody understood."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tuner.hf.configuring import LATENT, LEFT_OUT, LLAMA, changed, reading
from tuner.hf.checkpoint import Reading


def said(read: Reading, *words: str) -> bool:
    return any(all(word in note for word in words) for note in read.notes)


def test_a_plain_model_is_read_whole() -> None:
    read = reading(LLAMA)
    attention = 4 * 4096 * (32 + 8) * (128 + 128)
    total = attention + 4 * 3 * 4096 * 14336 + 128256 * 4096
    assert read.values == {
        **read.values,
        "architecture": "LlamaForCausalLM",
        "attention": "mha",
        "layers": [
            {
                **{"name": "full", "layers": 4, "query_heads": 32, "kv_heads": 8, "head_dim": 128, "value_head_dim": 128},
                **{"sliding_window": None, "sinks": False, "scale": None},
            }
        ],
        "other_layers": 0,
        "logit_softcap": None,
        "context_length": 8192,
        "hidden_size": 4096,
        "vocab_size": 128256,
        "params_total": total,
        "params_active": total,
        "attention_params": attention,
        "dtype": "bfloat16",
        "declared_kv_dtype": None,
        "weight_bits": None,
    }
    assert read.values["source"].startswith("config.json, sha256 ")
    assert len(read.notes) == 1 and said(read, "parameters were estimated", "model.params_total sets another")


def test_latent_attention_is_one_wide_kv_head_with_the_scale_of_the_heads_it_absorbed() -> None:
    values = reading(LATENT).values
    (kind,) = values["layers"]
    assert values["attention"] == "mla"
    assert (kind["query_heads"], kind["kv_heads"], kind["head_dim"], kind["value_head_dim"]) == (128, 1, 576, 512)
    assert kind["scale"] == pytest.approx(192**-0.5)


def test_yarn_s_correction_is_part_of_the_scale_of_latent_attention() -> None:
    rope = {"type": "yarn", "factor": 40, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}
    (kind,) = reading(changed(LATENT, rope_scaling=rope)).values["layers"]
    assert kind["scale"] == pytest.approx(192**-0.5 * 1.3688879454113936**2)  # 0.1 ln 40 + 1


def test_an_architecture_that_nobody_knows_is_a_guess_and_labelled_so() -> None:
    assert said(reading(changed(architectures=["TelepathForCausalLM"])), "a guess: TelepathForCausalLM", "plain grouped-query attention")
    assert said(reading(changed(LATENT, architectures=["TelepathForCausalLM"])), "a guess", "latent attention (MLA)")
    assert said(reading(changed(architectures=LEFT_OUT)), "a guess: unknown")
    assert not said(reading(LLAMA), "a guess")


def test_values_left_out_come_from_the_class_and_are_named() -> None:
    read = reading(changed(num_attention_heads=LEFT_OUT, num_key_value_heads=LEFT_OUT))
    assert read.values["layers"][0]["query_heads"] == 32
    assert said(read, "config.json leaves out num_attention_heads", "transformers 5.19.0")


def test_fields_that_look_like_attention_s_and_are_unknown_are_named() -> None:
    read = reading(changed(attention_telepathy=True, sliding_horizon=7, attention_bias=True, attn_unused=None))
    assert said(read, "not understood: attention_telepathy, sliding_horizon")
    assert not said(read, "attention_bias") and not said(read, "attn_unused")


def test_a_list_a_layer_makes_a_kind_of_each_value_also_where_layers_are_passed_twice() -> None:
    heads = [8, 8, 4, 4]
    for passes in (1, 2):
        kinds = reading(changed(num_key_value_heads=heads, loop_num=passes)).values["layers"]
        assert [(kind["kv_heads"], kind["layers"]) for kind in kinds] == [(8, 2 * passes), (4, 2 * passes)]


def test_a_hostile_field_name_is_not_repeated() -> None:
    assert not said(reading(changed(**{"attention\x1b[2J": 1})), "\x1b")


@pytest.mark.parametrize("part", ["text_config", "llm_config", "language_config", "thinker_config"])
def test_the_language_model_of_a_multimodal_one_is_read(part: str) -> None:
    inner = changed(architectures=LEFT_OUT, torch_dtype=LEFT_OUT)
    whole = {"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava", "torch_dtype": "float16", part: inner}
    values = reading(whole).values
    assert (values["architecture"], values["dtype"], values["layers"][0]["query_heads"]) == ("LlavaForConditionalGeneration", "float16", 32)
    assert reading({**whole, part: {"text_config": inner, "model_type": "outer"}}).values["layers"] == values["layers"]


def test_other_names_for_the_same_things_are_understood() -> None:
    gpt2: dict[str, Any] = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12, "n_head": 12}
    values = reading({**gpt2, "n_positions": 1024, "vocab_size": 50257}).values
    (kind,) = values["layers"]
    assert (kind["layers"], kind["query_heads"], kind["kv_heads"], kind["head_dim"]) == (12, 12, 12, 64)
    assert (values["hidden_size"], values["context_length"]) == (768, 1024)


@pytest.mark.parametrize(
    ("length", "changes"),
    [
        (8192, {}),
        (32768, {"rope_scaling": {"type": "linear", "factor": 4.0}}),
        (8192, {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}),
        (8192, {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}}),
        (16384, {"rope_scaling": {"type": "dynamic", "factor": 2.0}}),
        (4096, {"model_max_length": 4096}),
        (2048, {"model_type": "made_up", "max_position_embeddings": LEFT_OUT}),
    ],
)
def test_the_context_is_stretched_where_the_engine_stretches_it(length: int, changes: dict[str, Any]) -> None:
    assert reading(changed(**changes)).values["context_length"] == length


@pytest.mark.parametrize(
    ("dtype", "changes"),
    [
        ("bfloat16", {"torch_dtype": "bfloat16"}),
        ("float16", {"torch_dtype": "float16"}),
        ("float16", {"torch_dtype": "float32"}),
        ("bfloat16", {"torch_dtype": LEFT_OUT, "dtype": "torch.bfloat16"}),
        ("float16", {"torch_dtype": LEFT_OUT}),
        ("bfloat16", {"torch_dtype": "float32", "model_type": "gemma"}),
        ("bfloat16", {"torch_dtype": LEFT_OUT, "quantization_config": {"quant_method": "mxfp4"}}),
    ],
)
def test_the_dtype_is_what_the_engine_makes_of_it(dtype: str, changes: dict[str, Any]) -> None:
    assert reading(changed(**changes)).values["dtype"] == dtype


@pytest.mark.parametrize(
    ("scale", "changes"),
    [
        (None, {"query_pre_attn_scalar": 128}),
        (144**-0.5, {"query_pre_attn_scalar": 144}),
        (0.0078125, {"attention_multiplier": 0.0078125}),
        (1.0, {"model_type": "gemma4_text", "head_dim": 128}),
    ],
)
def test_a_scale_of_the_model_s_own_is_kept(scale: float | None, changes: dict[str, Any]) -> None:
    assert {kind["scale"] for kind in reading(changed(**changes)).values["layers"]} == {scale}


def test_sinks_belong_to_the_layers_that_have_them() -> None:
    flash = {"model_type": "mimo_v2_flash", "architectures": ["MiMoV2FlashForCausalLM"], "add_swa_attention_sink_bias": True}
    kinds = reading(changed(**flash, num_hidden_layers=6)).values["layers"]
    assert [(kind["name"], kind["sinks"]) for kind in kinds] == [("full", False), ("window", True)]
    (plain,) = reading(changed(architectures=["GptOssForCausalLM"])).values["layers"]
    assert plain["sinks"]


def test_a_soft_cap_is_the_configuration_s_or_grok_s_own() -> None:
    assert reading(changed(attn_logit_softcapping=50.0)).values["logit_softcap"] == 50.0
    assert reading(changed(architectures=["Grok1ForCausalLM"])).values["logit_softcap"] == 30.0


def test_the_digest_of_a_checkpoint_covers_what_lies_beside_its_configuration() -> None:
    plain, other, beside = reading(LLAMA), reading(changed(vocab_size=32000)), reading(LLAMA, hf_quant_config={"quantization": {}})
    assert len({read.values["config_sha256"] for read in (plain, other, beside)}) == 3
    assert plain.values["source"] == beside.values["source"]

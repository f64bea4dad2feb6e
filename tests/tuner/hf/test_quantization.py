"""What quantized checkpoints say of their weights and of the KV cache."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tuner.hf.configuring import changed, reading
from tuner.hf.quantization import FP8, quantization_of

TENSOR = {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True, "dynamic": False}


def of(modelopt: dict[str, Any] | None = None, **fields: Any) -> Any:
    return quantization_of({"quantization_config": fields} if fields else {}, modelopt)


@pytest.mark.parametrize(
    ("bits", "fields"),
    [
        (8.0, {"quant_method": "fp8", "weight_block_size": [128, 128]}),
        (4.25, {"quant_method": "mxfp4"}),
        (4 + 20 / 128, {"quant_method": "awq", "bits": 4, "group_size": 128}),
        (8.0, {"quant_method": "gptq", "bits": 8, "group_size": -1}),
        (4.5, {"quant_method": "bitsandbytes", "load_in_4bit": True}),
        (8.0, {"quant_method": "bitsandbytes", "load_in_8bit": True}),
        (8.0, {"quant_method": "modelopt", "quant_algo": "FP8"}),
        (4.5, {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
        (4.5, {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "NVFP4"}}}),
        (8.0, {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8, "group_size": None}}}}),
        (4 + 20 / 32, {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 4, "group_size": 32}}}}),
    ],
)
def test_the_width_of_a_weight_follows_from_the_method(bits: float, fields: dict[str, Any]) -> None:
    assert of(**fields).bits == bits and not of(**fields).notes


def test_an_unknown_method_is_said_and_the_dtype_stands() -> None:
    said = of(quant_method="telepathy")
    assert said.bits is None and "quantization 'telepathy' of config.json is unknown" in said.notes[0]
    assert "quantization 'without a method'" in of(group_size=128).notes[0]


@pytest.mark.parametrize(
    ("kv_dtype", "fields"),
    [
        (None, {"quant_method": "fp8"}),
        (FP8, {"quant_method": "compressed-tensors", "kv_cache_scheme": TENSOR}),
        (None, {"quant_method": "compressed-tensors", "kv_cache_scheme": {**TENSOR, "dynamic": True}}),
        (None, {"quant_method": "compressed-tensors", "kv_cache_scheme": {**TENSOR, "strategy": "channel"}}),
        (None, {"quant_method": "compressed-tensors", "kv_cache_scheme": {**TENSOR, "type": "int"}}),
        (FP8, {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": False}}),
        (FP8, {"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme": "FP8"}),
        (FP8, {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}),
        (None, {"quant_algo": "FP8", "kv_cache_quant_algo": None}),
        (None, {"quant_algo": "NVFP4", "kv_cache_quant_algo": "NVFP4"}),
    ],
)
def test_the_kv_cache_is_fp8_where_the_engine_takes_it_by_itself(kv_dtype: str | None, fields: dict[str, Any]) -> None:
    assert of(**fields).kv_dtype == kv_dtype


def test_a_scheme_that_the_engine_does_not_take_is_said() -> None:
    notes = of(
        quant_method="compressed-tensors", config_groups={"g": {"weights": {"num_bits": 8}}}, kv_cache_scheme={**TENSOR, "dynamic": True}
    ).notes
    assert "asks for a quantized KV cache" in notes[0] and "the model's dtype is assumed" in notes[0]


def test_what_modelopt_left_beside_the_configuration_counts_where_the_configuration_is_silent() -> None:
    beside = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "exclude_modules": ["model.layers.*.self_attn*"]}}
    assert (of(beside).bits, of(beside).kv_dtype, of(beside).keeps_attention) == (4.5, FP8, True)
    assert of(beside, quant_method="fp8").bits == 8.0


def test_the_average_width_leaves_out_what_is_not_quantized() -> None:
    quantized = [{"quant_method": "fp8", "modules_to_not_convert": names} for names in ([], ["self_attn"])]
    whole, kept = (reading(changed(quantization_config=one)).values for one in quantized)
    embedding = 128256 * 4096 / whole["params_total"]
    assert whole["weight_bits"] == pytest.approx(8 + 8 * embedding)
    assert kept["weight_bits"] == pytest.approx(8 + 8 * (embedding + kept["attention_params"] / kept["params_total"]))
    assert reading(changed()).values["weight_bits"] is None

from __future__ import annotations

from backends.model import LayerKind
from tests.asking import model
from tests.tuner.scenarios import DSV3, LLAMA
from tuner.engines.sglang.model_config import config_of, draft_of, readable

WINDOWED = model(
    LayerKind("full", 9, 64, 4, 192, 128), LayerKind("window", 39, 64, 8, 192, 128, 128, sinks=True), architecture="MiMoV2FlashForCausalLM"
)


def test_a_plain_model_is_a_llama_of_its_sizes() -> None:
    config = config_of(LLAMA)
    kind = LLAMA.layers[0]
    assert (config["architectures"], config["model_type"]) == ([LLAMA.architecture], "llama")
    assert (config["num_attention_heads"], config["num_key_value_heads"]) == (kind.query_heads, kind.kv_heads)
    assert (config["head_dim"], config["num_hidden_layers"], config["vocab_size"]) == (kind.head_dim, kind.layers, LLAMA.vocab_size)
    assert (config["max_position_embeddings"], config["torch_dtype"]) == (LLAMA.context_length, LLAMA.dtype)
    assert {"v_head_dim", "kv_lora_rank", "sliding_window", "learnable_sink", "index_topk"}.isdisjoint(config)


def test_a_latent_model_is_taken_apart_again() -> None:
    config, kind = config_of(DSV3), DSV3.layers[0]
    assert (config["kv_lora_rank"], config["qk_rope_head_dim"]) == (512, 64)
    assert config["num_key_value_heads"] == config["num_attention_heads"] == kind.query_heads
    assert "index_topk" not in config
    assert "index_topk" in config_of(model(kind, attention=DSV3.attention, architecture="DeepseekV32ForCausalLM"))


def test_windows_widths_and_sinks_are_said_under_the_names_sglang_reads() -> None:
    config = config_of(WINDOWED)
    assert (config["head_dim"], config["v_head_dim"], config["sliding_window"]) == (192, 128, 128)
    assert config["layer_types"] == ["sliding_attention"] * 39 + ["full_attention"] * 9
    assert sum(config["hybrid_layer_pattern"]) == 39 and len(config["hybrid_layer_pattern"]) == 48
    assert (config["add_swa_attention_sink_bias"], config["add_full_attention_sink_bias"]) == (True, False)


def test_a_hidden_size_that_the_heads_do_not_divide_is_cut() -> None:
    glm = model(LayerKind("full", 92, 96, 8, 128, 128), hidden_size=5120)
    assert config_of(glm)["hidden_size"] == 96 * 53


def test_a_draft_has_the_sizes_of_its_model() -> None:
    target, draft = config_of(LLAMA), draft_of(LLAMA)
    assert all(draft[name] == target[name] for name in ("hidden_size", "vocab_size", "max_position_embeddings"))
    assert draft["architectures"] != target["architectures"]


def test_a_checkpoints_configuration_is_kept_but_for_its_code_and_in_a_simulation_its_quantization() -> None:
    own = {
        "architectures": ["A"],
        "auto_map": {"AutoConfig": "x.py"},
        "quantization_config": {"quant_method": "mxfp4"},
        "text_config": {"quantization_config": {}, "head_dim": 64},
    }
    assert readable(own, simulated=True) == {"architectures": ["A"], "text_config": {"head_dim": 64}}
    assert readable(own, simulated=False) == {name: value for name, value in own.items() if name != "auto_map"}

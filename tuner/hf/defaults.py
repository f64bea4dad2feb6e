"""What a configuration may leave out because its class in transformers has it: published ones often hold the differences alone.

Source: transformers 5.19.0, models/*/configuration_*.py; sliding_window_pattern stands for the layer types the classes fill in.
"""

from __future__ import annotations

from typing import Any

LLAMA = {
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
}
MISTRAL = {**LLAMA, "intermediate_size": 14336, "num_key_value_heads": 8, "max_position_embeddings": 131072}
GEMMA_2B = {
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
}
QWEN2_VL = {
    "hidden_size": 8192,
    "intermediate_size": 29568,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 152064,
    "max_position_embeddings": 32768,
    "use_sliding_window": False,
}

BY_MODEL_TYPE: dict[str, dict[str, Any]] = {
    "llama": LLAMA,
    "mistral": {**MISTRAL, "sliding_window": 4096},
    "mixtral": {**MISTRAL, "num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2": {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28},
    "qwen2_moe": {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28},
    "qwen2_vl": QWEN2_VL,
    "qwen2_vl_text": QWEN2_VL,
    "qwen2_5_vl": QWEN2_VL,
    "qwen2_5_vl_text": QWEN2_VL,
    "qwen3": {"head_dim": 128, "use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28},
    "qwen3_moe": {"use_sliding_window": False, "sliding_window": 4096},
    "gemma": {"head_dim": 256, "num_key_value_heads": 16},
    "gemma2": {
        **GEMMA_2B,
        "vocab_size": 256000,
        "max_position_embeddings": 8192,
        "attn_logit_softcapping": 50.0,
        "sliding_window_pattern": 2,
    },
    "gemma3_text": {**GEMMA_2B, "vocab_size": 262208, "max_position_embeddings": 131072, "sliding_window_pattern": 6},
    "gemma3n_text": {"head_dim": 256, "sliding_window": 512, "sliding_window_pattern": 5},
    "gemma4_text": {"head_dim": 256, "global_head_dim": 512, "sliding_window": 512, "sliding_window_pattern": 6},
    "gpt_oss": {"head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2},
    "cohere2": {"sliding_window": 4096, "sliding_window_pattern": 4},
    "exaone4": {"sliding_window": 4096, "sliding_window_pattern": 4},
    "mimo_v2_flash": {"head_dim": 192, "v_head_dim": 128, "sliding_window": 128},
    "llama4_text": {"head_dim": 128, "attention_chunk_size": 8192, "no_rope_layer_interval": 4},
    "jamba": {"attn_layer_period": 8, "attn_layer_offset": 4},
    "qwen3_next": {"head_dim": 256, "full_attention_interval": 4},
    "falcon": {"multi_query": True},
    "gpt_bigcode": {"multi_query": True},
    "recurrent_gemma": {"attention_window_size": 2048, "block_types": ["recurrent", "recurrent", "attention"]},
    "deepseek_v2": {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
    "deepseek_v3": {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
}

"""What of a configuration speaks of attention and was not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tuner.hf.fields import Config
from tuner.hf.shape import SPELLINGS

OF_ATTENTION = re.compile(r"attn|attention|head|window|sliding|kv_|lora_rank|qk_|sparse|chunk|softcap|sink|mla")
# Read by one of the modules beside this one, whatever they make of it.
READ = {
    *("layer_types", "attention_layers", "block_types", "hybrid_override_pattern", "hybrid_layer_pattern", "attn_type_list"),
    *("attn_layer_indices", "full_attn_idxs", "linear_attn_config", "attn_layer_period", "attn_layer_offset", "full_attention_interval"),
    *("attention_chunk_size", "use_sliding_window", "sliding_window_pattern", "max_window_layers", "attention_other_setting"),
    *("num_attention_heads", "num_key_value_heads", "head_dim", "v_head_dim", "global_head_dim", "num_global_key_value_heads"),
    *("attention_k_eq_v", "multi_query", "kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "use_mla", "use_mla_nope"),
    *("attention_multiplier", "query_pre_attn_scalar", "attn_logit_softcapping", "learnable_sink", "num_kv_shared_layers"),
    *("add_swa_attention_sink_bias", "add_full_attention_sink_bias", "decoder_sparse_step", "attn_config"),
    *("compress_ratios", "sparse_attention_config", "sparse_config", "block_configs"),
    *SPELLINGS,
    *(other for others in SPELLINGS.values() for other in others),
}
# Change no shape, window, scale or mask of the kernels that are measured: biases, norms, dropout, masks of training, other heads.
HARMLESS = re.compile(
    "|".join(
        (
            r"(swa|linear|mamba|gdn|ssm|vision|audio|mtp|index|hc|moe|mlp|kv_cache|n_head)_.*|time_mix.*|head_wise.*|lm_head.*",
            r".*(bias|dropout|drop|pdrop|norm|layernorm|pad|implementation|softmax_in_fp32)|scale_attn_.*|apply_query_key_.*|mla_use_.*",
            r".*(attn_output_gate|attention_value_scale|attn_temperature_tuning|attn_scale|attn_gate|use_flash|flash_attn).*",
            r"qk_head_dim|qk_norm_type|head_dtype|pruned_heads|prediction_heads|num_heads_per_.*|num_nextn_predict_layers|o_lora_rank",
            r"attention_type|attention_(in|out)_multiplier|attn_res_block_size|window_attention|use_bidirectional_attention|parallel_attn",
            r"use_logn_attn|use_head_wise_attn_gate|output_attentions|final_logit_softcapping|chunk_size(_feed_forward)?",
        )
    )
)


def notes_of(config: Config) -> Iterator[str]:
    """One sentence with the fields that look like attention's and have a value nobody here read."""
    unread = [name for name, value in config.items() if value not in (None, False, 0, "", [], {}) and _unread(name)]
    if unread:
        yield f"config.json has fields that look like attention's and were not understood: {', '.join(sorted(unread)[:8])}"


def _unread(name: str) -> bool:
    return bool(OF_ATTENTION.search(name)) and name not in READ and not HARMLESS.fullmatch(name) and name.isprintable()

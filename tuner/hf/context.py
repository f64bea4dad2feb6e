"""How long a context the engine takes, and the dtype it computes in."""

from __future__ import annotations

from tuner.errors import UsageError
from tuner.hf.fields import Config, count, number, part, text

# sglang/srt/utils/hf_transformers/common.py, CONTEXT_LENGTH_KEYS and get_context_length
LENGTHS = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
WITHOUT_LENGTH = 2048
MOST = 100_000_000  # tokens; ten times the longest context that anybody serves
DTYPES = ("bfloat16", "float16", "float32")


# Kinds of rope scaling whose length is in max_position_embeddings already: transformers 5 notes the original one beside them.
STRETCHED = ("llama3", "yarn", "longrope", "su")
# These keep their rope parameters by layer type, where the engine looks for no factor.
BY_LAYER_TYPE = ("gemma3_text", "gemma3n_text", "gemma4_text", "mimo_v2_flash")


def context_length(config: Config) -> int:
    """Tokens of prompt and output together, stretched by rope scaling where the engine stretches it. Raises `UsageError`
    above `MOST`."""
    rope = part(config, "rope_scaling") or part(config, "rope_parameters") or {}
    kind = rope.get("rope_type") or rope.get("type")
    stretched = "original_max_position_embeddings" in rope or kind in STRETCHED or config.get("model_type") in BY_LAYER_TYPE
    factor = 1.0 if stretched else number(rope, "factor") or 1.0
    length = next((found for name in LENGTHS if (found := count(config, name, 1)) is not None), None)
    if length is None:
        return WITHOUT_LENGTH
    if factor * length > MOST:
        raise UsageError(
            f"config.json makes a context of {factor * length:.0f} tokens ({length} x {factor:g}), and attnpin plans at most {MOST}; "
            f"correct its length or its rope factor"
        )
    return max(1, int(factor * length))


def dtype(config: Config) -> str:
    """What `--dtype auto` becomes.

    Source: sglang/srt/configs/model_config.py, _get_and_verify_dtype; sglang/srt/arg_groups/model_overrides/gpt_oss.py for MXFP4.
    """
    if (part(config, "quantization_config") or {}).get("quant_method") == "mxfp4":
        return "bfloat16"
    declared = text(config, "dtype") or text(config, "torch_dtype") or "float32"
    known = declared.removeprefix("torch.")
    if known in DTYPES and known != "float32":
        return known
    return "bfloat16" if str(config.get("model_type", "")).startswith("gemma") else "float16"

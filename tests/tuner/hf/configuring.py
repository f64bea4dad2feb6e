"""A plain configuration, changed as a test needs, and what the reader makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tuner.hf.checkpoint import Reading, read_checkpoint

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
LATENT = {
    **LLAMA,
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
LEFT_OUT: Any = object()


def changed(base: dict[str, Any] = LLAMA, **changes: Any) -> dict[str, Any]:
    """``base`` with other values; `LEFT_OUT` drops one."""
    return {name: value for name, value in {**base, **changes}.items() if value is not LEFT_OUT}


def written(folder: Path, config: dict[str, Any] = LLAMA) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def reading(config: dict[str, Any], **beside: Any) -> Reading:
    """Of a checkpoint with this config.json; ``beside`` are other JSON files by their stem."""
    with TemporaryDirectory() as folder:
        written(Path(folder), config)
        for stem, content in beside.items():
            (Path(folder) / f"{stem}.json").write_text(json.dumps(content))
        return read_checkpoint(folder)

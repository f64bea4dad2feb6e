"""What each layer of a model does, in order: attention over everything, over a window or a chunk, or something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tuner.errors import UsageError
from tuner.hf.fields import MANY, Config, count, flag, items, needed, part
from tuner.hf.layer import Layer, layer_named, layers_lettered

LOCAL, GLOBAL = "L", "G"  # Exaone 4

Rule = Callable[[Config, int], "list[Layer] | None"]


def layers_of(config: Config) -> list[Layer]:
    """One word a layer, by the first rule that the configuration has the fields of. Raises `UsageError` for words unknown."""
    total = needed(config, "num_hidden_layers") * _passes(config)
    if total > MANY:
        raise UsageError(f"config.json has {total} layers, and attnpin reads at most {MANY}; correct num_hidden_layers")
    found = next((layers for rule in RULES if (layers := rule(config, total)) is not None), [Layer.FULL] * total)
    if len(found) < total:
        raise UsageError(f"config.json names {len(found)} layers and has num_hidden_layers={total}; give a complete one")
    return found[:total]  # some name those of the draft head too


def _passes(config: Config) -> int:
    """How often each layer attends (sglang/srt/configs/model_config.py, num_attention_layers)."""
    twice = 2 if config.get("model_type") == "longcat_flash" else 1
    return twice * (count(config, "loop_num", 1) or count(config, "num_loops", 1) or 1)


def _listed(config: Config, total: int) -> list[Layer] | None:
    names = items(config, "layer_types") or items(config, "attention_layers")
    return None if not names else [layer_named(name) for name in names]


def _repeated(config: Config, total: int) -> list[Layer] | None:
    names = items(config, "block_types")
    return None if not names else _over([layer_named(name) for name in names], total)


def _lettered(config: Config, total: int) -> list[Layer] | None:
    pattern = config.get("hybrid_override_pattern")
    return layers_lettered(pattern) if isinstance(pattern, str) and pattern else None


def _flagged(config: Config, total: int) -> list[Layer] | None:
    """0 and 1 a layer: MiMo-V2 marks windows, MiniMax full attention among lightning attention."""
    if (windows := items(config, "hybrid_layer_pattern")) is not None:
        return [Layer.WINDOW if mark == 1 else Layer.FULL for mark in windows]
    if (full := items(config, "attn_type_list")) is not None:
        return [Layer.FULL if mark == 1 else Layer.MIXER for mark in full]
    return None


def _indexed(config: Config, total: int) -> list[Layer] | None:
    """The layers with attention by number, from 0 (Bamba, LFM2) or from 1 (Kimi Linear)."""
    linear = part(config, "linear_attn_config") or {}
    lists = ((config, "attn_layer_indices", 0), (config, "full_attn_idxs", 0), (linear, "full_attn_layers", 1))
    for where, name, first in lists:
        if (numbers := items(where, name)) is not None:
            return [Layer.FULL if index + first in numbers else Layer.MIXER for index in range(total)]
    return None


def _periodic(config: Config, total: int) -> list[Layer] | None:
    """One layer with attention in so many."""
    if period := count(config, "attn_layer_period", 1):
        offset = count(config, "attn_layer_offset") or 0
        return [Layer.FULL if index % period == offset else Layer.MIXER for index in range(total)]
    if period := count(config, "full_attention_interval", 1):
        return [Layer.MIXER if (index + 1) % period else Layer.FULL for index in range(total)]
    return None


def _by_blocks(config: Config, total: int) -> list[Layer] | None:
    """Models pruned by architecture search (Nemotron-NAS) say block by block what is left."""
    if (blocks := items(config, "block_configs")) is None:
        return None
    attention = [part(block, "attention") or {} for block in blocks if isinstance(block, dict)]
    return [Layer.NEITHER if one.get("no_op") or one.get("replace_with_linear") else Layer.FULL for one in attention]


def _compressed(config: Config, total: int) -> list[Layer] | None:
    """Sparse attention that the layer types do not tell (DeepSeek-V4, MiniMax-M3, MiniCPM)."""
    if any(config.get(name) for name in ("compress_ratios", "sparse_attention_config", "sparse_config")):
        return [Layer.SPARSE] * total
    return None


def _beside_mamba(config: Config, total: int) -> list[Layer] | None:
    return [Layer.BOTH] * total if config.get("model_type") == "falcon_h1" else None


def _mimo(config: Config, total: int) -> list[Layer] | None:
    """Where a MiMo-V2-Flash marks nothing: its class's pattern, which begins with a full layer."""
    if config.get("model_type") != "mimo_v2_flash":
        return None
    return [Layer.FULL if index == 0 or (index + 1) % 6 == 0 else Layer.WINDOW for index in range(total)]


def _chunked(config: Config, total: int) -> list[Layer] | None:
    """Llama 4: layers with rotary embedding attend within chunks."""
    if count(config, "attention_chunk_size", 1) is None:
        return None
    interval = count(config, "no_rope_layer_interval", 1) or 4
    marks = items(config, "no_rope_layers") or [int((index + 1) % interval != 0) for index in range(total)]
    return [Layer.CHUNK if mark else Layer.FULL for mark in marks]


def _windowed(config: Config, total: int) -> list[Layer] | None:
    """A window in all layers, from a layer on (Qwen), or by a period or letters whose last is full (Gemma, Cohere, Exaone)."""
    window = config.get("sliding_window")
    if isinstance(window, list) and window:  # one a layer, repeated; null = none
        return _over([Layer.FULL if one is None else Layer.WINDOW for one in window], total)
    if not window or flag(config, "use_sliding_window") is False:
        return None
    if (pattern := config.get("sliding_window_pattern")) is not None:
        return _by_pattern(pattern, total)
    full = count(config, "max_window_layers") or 0
    return [Layer.WINDOW if index >= full else Layer.FULL for index in range(total)]


def _by_pattern(pattern: object, total: int) -> list[Layer]:
    if isinstance(pattern, str) and pattern and set(pattern) <= {LOCAL, GLOBAL}:
        return _over([Layer.WINDOW if letter == LOCAL else Layer.FULL for letter in pattern], total)
    if type(pattern) is int and pattern > 0:
        return [Layer.WINDOW if (index + 1) % pattern else Layer.FULL for index in range(total)]
    raise UsageError(f"sliding_window_pattern of config.json is {pattern!r:.60}; it must be a number above 0 or letters L and G")


def _over(some: Sequence[Layer], total: int) -> list[Layer]:
    return [some[index % len(some)] for index in range(total)]


RULES: tuple[Rule, ...] = (
    _listed,
    _repeated,
    _lettered,
    _flagged,
    _indexed,
    _periodic,
    _by_blocks,
    _compressed,
    _beside_mamba,
    _mimo,
    _chunked,
    _windowed,
)

"""What is asked of a backend: a model's layers on one GPU, in one phase, under one set of engine settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backends.cell import Phase
from backends.gpu import Gpu
from backends.model import LayerKind, Model

# Compute capabilities whose kernels somebody has listed; any other is unknown, whatever its number compares to.
KNOWN_SM = (75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)

# Engines by the names of their settings, as they write themselves.
ENGINES = {"sglang": "SGLang", "vllm": "vLLM"}
# The versions of each whose rules were read, oldest first.
RULE_SETS = {"sglang": ("0.5.16", "0.5.22", "0.5.23"), "vllm": ("0.33.0",)}
RULES = RULE_SETS["sglang"]

# Words for `engine.features`: what must keep working beside attention itself.
FEATURES = ("deterministic", "radix_cache", "speculative", "cross_attention", "encoder_only", "multi_item_scoring")


@dataclass(frozen=True)
class Question:
    """``layers`` hold heads per tensor-parallel rank. ``kv_dtype`` is a torch name where torch has one ("bfloat16",
    "float8_e4m3fn") and the engine's word elsewhere ("nvfp4"); ``kv_flag`` the word as written ("auto"). ``page_size`` is
    the one the server would run with. ``speculation`` names the algorithm, ``topk`` is 0 without one and else the width
    the engine ends up with. ``rules`` is the member of `RULE_SETS` that applies. ``packages`` maps the import names found
    where the worker runs to versions ("" = it has none to read), None = nobody has looked yet.

    ``engine_version`` None = the one of ``rules``. ``pool_tokens``: KV slots of the server, None = unknown. ``query_dtype``
    None = the model's. ``dcp_size`` ranks split the keys of a context in decode, ``attn_cp_size`` the tokens of a prefill.
    ``paths``: kernels called directly, without an engine, whose own limits then do not count; None = the engine chooses.
    ``engine`` is the one of ``rules``; ``set_page_size`` the page size as the user set it, None = left to the engine.
    """

    model: Model
    layers: tuple[LayerKind, ...]
    gpu: Gpu
    phase: Phase
    kv_dtype: str
    kv_flag: str
    page_size: int
    speculation: str | None
    topk: int
    features: tuple[str, ...]
    rules: str
    packages: Mapping[str, str] | None = None
    engine_version: str | None = None
    pool_tokens: int | None = None
    query_dtype: str | None = None
    dcp_size: int = 1
    attn_cp_size: int = 1
    paths: tuple[str, ...] | None = None
    engine: str = "sglang"
    set_page_size: int | None = None

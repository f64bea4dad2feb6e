"""Which of vLLM's rule sets applies, and what the engine fills in before it looks for a backend."""

from __future__ import annotations

from backends.gpu import Gpu
from backends.model import Model
from backends.question import RULE_SETS

BLOCK_SIZE, CPU_BLOCK_SIZE = 16, 128  # vllm/config/cache.py, CacheConfig; vllm/platforms/cpu.py, update_block_size_for_backend

# vLLM's words for a KV dtype as torch names, where torch has one (vllm/utils/torch_utils.py, STR_DTYPE_TO_TORCH_DTYPE)
TORCH_NAMES = {"fp8": "float8_e4m3fn", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2"}
# ... and what a checkpoint declares in vLLM's words (get_kv_cache_quant_algo_string there; model_executor/layers/attention/attention.py)
DECLARED = {"float8_e4m3fn": "fp8_e4m3", "nvfp4": "nvfp4"}


def rules_for(version: str) -> tuple[str, str | None]:
    """The newest rule set, and a note unless it is that version's own."""
    rules = RULE_SETS["vllm"][-1]
    return rules, None if version == rules else f"no rules of vLLM {version} are known; those of {rules} were applied"


def default_page_size(gpu: Gpu) -> int:
    return CPU_BLOCK_SIZE if gpu.kind == "cpu" else BLOCK_SIZE


def kv_word(model: Model, flag: str) -> str:
    """vLLM's word for the KV dtype it serves with: "auto" where neither the user nor the checkpoint says another."""
    return DECLARED.get(model.declared_kv_dtype or "", flag) if flag == "auto" else flag


def resolved_kv_dtype(model: Model, flag: str) -> str:
    """The KV cache's dtype, as a torch name where torch has one."""
    word = kv_word(model, flag)
    return model.dtype if word == "auto" else TORCH_NAMES.get(word, word)

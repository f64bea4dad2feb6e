"""vLLM's options for what a pin chooses (vllm/engine/arg_utils.py, vllm/config/attention.py, 0.33.0)."""

from __future__ import annotations

from tuner.engines.choices import BACKEND, KV_DTYPE, PAGE_SIZE, Choices

_KEYS = {"backend": BACKEND, "backend-per-kind": BACKEND}

CHOICES = Choices(
    {"attention-backend": BACKEND, "block-size": PAGE_SIZE, "kv-cache-dtype": KV_DTYPE},
    objects={"attention-config": _KEYS, "ac": _KEYS},
)

"""SGLang's options for what a pin chooses (sglang/srt/arg_groups/fields/exec_.py, cache.py, 0.5.22; sglang/srt/server_args.py, 0.5.16)."""

from __future__ import annotations

from tuner.engines.choices import BACKEND, KV_DTYPE, PAGE_SIZE, Choices

CHOICES = Choices(
    {
        "attention-backend": BACKEND,
        "prefill-attention-backend": BACKEND,
        "decode-attention-backend": BACKEND,
        "page-size": PAGE_SIZE,
        "kv-cache-dtype": KV_DTYPE,
    }
)

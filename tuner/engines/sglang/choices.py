"""SGLang's options for what a pin chooses (sglang/srt/arg_groups/fields/exec_.py, cache.py, 0.5.22; sglang/srt/server_args.py, 0.5.16)."""

from __future__ import annotations

from tuner.engines.choices import BACKEND, KV_DTYPE, PAGE_SIZE, Choices

# Knobs of backends (conf/backend) that are written as a flag.
KNOBS = {
    "triton-attention-num-kv-splits": "the number of Triton's KV splits",
    "triton-attention-split-tile-size": "the tile of Triton's KV splits",
    "triton-attention-reduce-in-fp32": "the width of Triton's sums",
    "flashinfer-mla-disable-ragged": "how FlashInfer runs an MLA prefill",
}
SWITCHES = ("triton-attention-reduce-in-fp32", "flashinfer-mla-disable-ragged")
CHOICES = Choices(
    {
        "attention-backend": BACKEND,
        "prefill-attention-backend": BACKEND,
        "decode-attention-backend": BACKEND,
        "page-size": PAGE_SIZE,
        "kv-cache-dtype": KV_DTYPE,
        **KNOBS,
    },
    switches=SWITCHES,
)

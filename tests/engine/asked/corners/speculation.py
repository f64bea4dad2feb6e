"""Drafts."""

from __future__ import annotations

from tests.engine.asked.corners.corner import FULL, HYBRID, MHA, MLA, NEW, NVIDIA, Corner, drafts, one
from tuner.engines.sglang.resolver.request import Draft

SPECULATION = (
    Corner(
        (*MHA, "Grok1ForCausalLM", "Qwen3MoeForCausalLM"),
        NVIDIA,
        {
            "draft": tuple(
                Draft(name, **more)
                for name in ("EAGLE", "EAGLE3", "STANDALONE", "NEXTN")
                for more in ({}, FULL, {"topk": 4, "steps": 5, "draft_tokens": 8})
            )
        }
        | {"page_size": (None, 1, 64)},
        noise=0.1,
    ),
    Corner(
        MHA,
        (*NVIDIA, "cpu-amx", "mi300", "xpu", "npu", "musa"),
        drafts("NGRAM") | {"page_size": (None, None, 64)} | one(None, "flashinfer", "triton"),
        noise=0.05,
    ),
    Corner(
        MHA, NVIDIA, drafts("NGRAM", "STANDALONE", "DFLASH", "DSPARK", model=False) | {"attn_dp": (2,), "tensor_parallel": (2, 4)}, noise=0
    ),
    Corner(MHA, NVIDIA, drafts("MEDUSA", "eagle", "UNO"), noise=0),
    Corner(
        (*MHA, *MLA),
        (*NVIDIA, "npu", "xpu", "mi300", "cpu-amx"),
        {
            "draft": tuple(
                Draft("DFLASH", model=True, causal=causal, attention_backend=name)
                for causal in (False, True)
                for name in (None, None, "fa3", "trtllm_mha", "torch_native", "intel_xpu")
            )
        }
        | one(None, None, "trtllm_mha", "torch_native"),
        noise=0.05,
    ),
    Corner(
        MHA,
        (*NVIDIA, "npu", "xpu", "cpu-amx", "mi300"),
        {
            "draft": (
                Draft("DFLASH"),
                Draft("DFLASH", model=True, draft_tokens=8),
                Draft("DSPARK"),
                Draft("DSPARK", model=True),
                Draft("DSPARK", model=True, draft_tokens=1),
                Draft("DSPARK", model=True, draft_tokens=6),
            )
        }
        | {"pipeline_parallel": (1, 1, 2)},
        noise=0,
    ),
    Corner(
        MHA,
        (*NVIDIA, "cpu-amx"),
        {
            "draft": tuple(
                Draft("UNO", **{"uno_lora": True, "draft_tokens": 4, **more})
                for more in ({}, {}, {}, {"model": True}, {"uno_lora": False}, {"draft_tokens": None}, {"topk": 2}, {"topk": 1})
            )
        }
        | {"tensor_parallel": (1, 1, 2), "deterministic": (False, False, True)}
        | one(None, "fa3", "triton"),
        since=NEW,
        noise=0,
    ),
    Corner(HYBRID, ("cpu", "cpu-amx", "cpu-arm"), drafts("EAGLE", "NGRAM"), noise=0),
)

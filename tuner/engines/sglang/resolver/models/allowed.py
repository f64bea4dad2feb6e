"""What a model allows once its own default is in place, and before the tree is asked.

Source: sglang/srt/arg_groups/model_hook.py, handle_model_specific_adjustments.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import architecture, base, no
from tuner.engines.sglang.resolver.models.dense import EXAONE, GEMMA4, GPT_OSS, LLAMA4, NOT_CPU, OLMO2, WINDOWED
from tuner.engines.sglang.resolver.models.nemotron import NEMOTRON_16
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step

HOOK = "sglang/srt/arg_groups/model_hook.py, handle_model_specific_adjustments"
MLX = Condition("MLX on a Mac", lambda r, s: r.machine.kind == "mps" and r.variable("SGLANG_USE_MLX") is not None)
GPT_OSS_ALLOWED = ("triton", "trtllm_mha", "fa3", "fa4", "ascend", "intel_amx", "intel_xpu", "aiter")
GEMMA4_OLD = ("trtllm_mha", "triton", "ascend", "intel_xpu")
GEMMA4_ALLOWED = (*GEMMA4_OLD, "fa4", "intel_amx", "aiter")
LLAMA4_ALLOWED = ("fa3", "aiter", "triton", "ascend", "trtllm_mha", "intel_xpu")
EXAONE_ALLOWED = ("fa3", "triton", "trtllm_mha")


def _side_outside(*names: str) -> Condition:
    return Condition(f"a side other than {' or '.join(names)}", lambda r, s: not {s.prefill_side, s.decode_side} <= set(names))


def _base_outside(*names: str) -> Condition:
    return Condition(f"base other than {' or '.join(names)}", lambda r, s: s.base not in names)


PAIR = "prefill {s.prefill_side}, decode {s.decode_side}"

ALLOWED = (
    Rule(
        "allowed.gpt-oss",
        (GPT_OSS, no(MLX), _side_outside(*GPT_OSS_ALLOWED)),
        Refuses(
            f"GPT-OSS does not take {PAIR} at this point; set --attention-backend, or both split flags, to one that knows sinks",
            "GptOssForCausalLM requires one of",
        ),
        "It has sinks; one split flag alone leaves the other side unset here, which is refused too.",
        HOOK,
    ),
    Rule(
        "allowed.llama4",
        (LLAMA4, NOT_CPU, _base_outside(*LLAMA4_ALLOWED)),
        Refuses(
            "Llama 4 does not take {s.base}; set --attention-backend to fa3, aiter, triton, trtllm_mha or intel_xpu",
            "is required for Llama4 model",
        ),
        "Its chunked layers need one of these; the split flags are not looked at.",
        HOOK,
    ),
    Rule(
        "allowed.gemma4-old",
        (GEMMA4, _side_outside(*GEMMA4_OLD)),
        Refuses(f"Gemma 4 does not take {PAIR}; set both sides to trtllm_mha or triton", "Gemma4 only supports"),
        "Its wide heads need one of these.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "allowed.gemma4",
        (GEMMA4, _side_outside(*GEMMA4_ALLOWED)),
        Refuses(f"Gemma 4 does not take {PAIR}; set both sides to trtllm_mha, triton, fa4 or aiter", "Gemma4 only supports"),
        "Its wide heads need one of these.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "allowed.exaone-old",
        (architecture("Exaone4ForCausalLM", "ExaoneMoEForCausalLM"), WINDOWED, _base_outside(*EXAONE_ALLOWED)),
        Refuses(
            "windowed EXAONE needs --attention-backend fa3, triton or trtllm_mha, and SGLang {r.version} chooses none itself",
            "One of the attention backends in",
        ),
        "Its windows need one of these, and no default is filled in before the check.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "allowed.exaone",
        (EXAONE, WINDOWED, _base_outside(*EXAONE_ALLOWED)),
        Refuses(
            "windowed EXAONE does not take {s.base}; set --attention-backend to fa3, triton or trtllm_mha",
            "One of the attention backends in",
        ),
        "Its windows need one of these.",
        HOOK,
        since="0.5.22",
    ),
    Rule(
        "allowed.olmo2",
        (OLMO2, base("flashinfer")),
        Refuses(
            "Olmo 2 does not take flashinfer; set --attention-backend to fa3 or triton", "FlashInfer backend can significantly degrade"
        ),
        "With FlashInfer Olmo 3 lost several points of MMLU on its windows (sglang pull request 11396).",
        HOOK,
    ),
    Rule(
        "allowed.nemotron",
        (NEMOTRON_16, base("triton")),
        Refuses("Nemotron-H does not take triton; choose another backend", "does not support triton attention backend"),
        "Its first layer need not be attention.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "allowed.lfm2-old",
        (architecture("Lfm2ForCausalLM"), base("triton")),
        Refuses("LFM2 does not take triton; choose another backend", "does not support triton attention backend"),
        "Its first layer is no attention.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "allowed.lfm2",
        (architecture("Lfm2ForCausalLM", "Lfm2MoeForCausalLM"), base("triton")),
        Refuses("LFM2 does not take triton; choose another backend", "does not support triton attention backend"),
        "Its first layer is no attention.",
        HOOK,
        since="0.5.22",
    ),
)

STEPS = (Step("what each model allows", ALLOWED),)

"""Reasons that SGLang's authors recorded for a choice and that can be measured again: in comments, issues and pull requests.

Only what was recorded. A size stands here where it was; 0 = "faster" was said and no size. A difference of a whole step bounds that of
attention from below, since attention is at most all of it.
"""

from __future__ import annotations

from backends.cell import Phase
from store.engines.recorded_reason import Expected, ReasonTest, RecordedReason, Shape

PREFILL, DECODE = (Phase.PREFILL,), (Phase.DECODE,)
BOTH = (*PREFILL, *DECODE)
SGLANG, FLASHINFER = "https://github.com/sgl-project/sglang", "https://github.com/flashinfer-ai/flashinfer"
FASTEST = f"{SGLANG}/issues/5064"  # "the best performing one" is to be the default; which one, by compute capability
TREE = "sglang/srt/arg_groups/model_override_base.py, get_default_attn_backend"

HOPPER = RecordedReason(
    recorded_because="FlashInfer 0.6.1 decoded more slowly on Hopper",
    sources=(f"{SGLANG}/issues/17411", f"{SGLANG}/pull/17425", f"{FLASHINFER}/issues/2400", f"{SGLANG}/pull/18364"),
    # The least slowdown in these threads is 2.5 times. 64 x 4096 is where it was seen again: 45 us became 561 us on an H200
    # with 16 query heads on one KV head, 256 us became 1137 us with 32 on 8, and nothing with 16 on 16.
    test=ReasonTest(DECODE, "fa3", "flashinfer", sm=(90,), slower_by=1.0, shapes=(Shape(Phase.DECODE, 64, 4096),), least_group=4),
    package="flashinfer",
    symptom="decode slow on SM90",
    first_bad="0.6.0",
    first_good="0.6.4",
    avoided_since="0.5.9",
)

SM100 = RecordedReason(
    recorded_because="the fastest backend is to be the default, and trtllm_mha was put in FlashInfer's place (no figure is given)",
    sources=(TREE, FASTEST, f"{SGLANG}/pull/14291"),
    test=ReasonTest(BOTH, "trtllm_mha", "flashinfer", sm=(100, 103)),
)

GENERAL = RecordedReason(
    recorded_because="FlashInfer was named the best performing backend on SM80, SM86, SM89 and SM120 (no figure is given)",
    sources=(FASTEST, f"{SGLANG}/pull/14842"),
    test=ReasonTest(BOTH, "flashinfer", "triton", sm=(80, 86, 89, 120)),
)

MLA_HOPPER = RecordedReason(
    recorded_because="fa3 was named the best performing backend for DeepSeek on Hopper (no figure is given)",
    sources=(FASTEST, f"{SGLANG}/pull/5210"),
    test=ReasonTest(BOTH, "fa3", "flashinfer", sm=(90,)),
)

MLA_SM100 = RecordedReason(
    recorded_because="FlashInfer was named the best performing backend for DeepSeek on SM100 (no figure is given)",
    sources=(FASTEST,),
    test=ReasonTest(BOTH, "flashinfer", "trtllm_mla", sm=(100, 103)),
)

TRTLLM_MLA = RecordedReason(
    recorded_because="FlashInfer's own choice for MLA on SM100 is a kernel made for older GPUs, 3.0 times slower at 128 x 4096 tokens",
    sources=(f"{FLASHINFER}/issues/3400", f"{FLASHINFER}/pull/3405", f"{SGLANG}/pull/26557"),
    test=ReasonTest(DECODE, "trtllm_mla", "flashinfer", sm=(100, 103), slower_by=1.0, shapes=(Shape(Phase.DECODE, 128, 4096),)),
    package="flashinfer",
    symptom="MLA decode slow on SM100",
)

GEMMA4 = RecordedReason(
    recorded_because="a token took 8.55 ms with triton and 7.60 ms with trtllm_mha on SM100",
    sources=(f"{SGLANG}/pull/25006", f"{SGLANG}/pull/25005"),
    test=ReasonTest(DECODE, "trtllm_mha", "triton", sm=(100, 103), slower_by=0.12),
)


def _olmo(chosen: str, sm: tuple[int, ...]) -> RecordedReason:
    """Olmo 3's windows have 4096 tokens; a prompt has to be longer to show whether they are kept."""
    shapes = (Shape(Phase.PREFILL, 1, 8192),)
    return RecordedReason(
        recorded_because="FlashInfer cost several points of MMLU on the sliding windows of Olmo 3",
        sources=(f"{SGLANG}/pull/11396", "sglang/srt/arg_groups/model_hook.py, handle_model_specific_adjustments"),
        test=ReasonTest(PREFILL, chosen, "flashinfer", sm, Expected.WRONG, shapes=shapes),
    )


OLMO, OLMO_SM100 = _olmo("fa3", (80, 86, 89, 90)), _olmo("trtllm_mha", (100, 103))

QWEN3_5 = RecordedReason(
    recorded_because="a token took 35.00 ms with triton and 33.49 ms with trtllm_mha on SM100",
    sources=(f"{SGLANG}/pull/19030",),
    test=ReasonTest(DECODE, "trtllm_mha", "triton", sm=(100, 103), slower_by=0.04),
)

QWEN3_VL = RecordedReason(
    recorded_because="a profile of Qwen3-VL on large Hopper GPUs decoded with it (no figure is given)",
    sources=("sglang/srt/arg_groups/model_overrides/qwen3_vl.py, _qwen3vl_hopper_serving_overrides",),
    test=ReasonTest(DECODE, "flashinfer", "fa3", sm=(90,)),
)

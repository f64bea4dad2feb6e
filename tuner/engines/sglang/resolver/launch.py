"""What is checked once everything is resolved."""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import MULTIMODAL
from tuner.engines.sglang.resolver.conditions import PIPELINE, SPECULATION
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step
from tuner.engines.sglang.resolver.request import Request

LAYERED = ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration", "MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM", "GigaChat35")


def _layered(request: Request) -> bool:
    return any(name in request.model.architecture for name in LAYERED)


CHECK = "sglang/srt/arg_groups/validation_hook.py"

LAUNCH = (
    Rule(
        "launch.pipeline-drafts-old",
        (PIPELINE, SPECULATION),
        Refuses(
            "pipeline parallelism takes no speculation; drop --pp-size or --speculative-algorithm",
            "Pipeline parallelism is not compatible with",
        ),
        "Drafts are not passed between stages.",
        "sglang/srt/server_args.py, check_server_args",
        until="0.5.16",
    ),
    Rule(
        "launch.pipeline-drafts",
        (PIPELINE, Condition("another algorithm than EAGLE and DSPARK", lambda r, s: s.algorithm not in (None, "EAGLE", "DSPARK"))),
        Refuses(
            "pipeline parallelism drafts with EAGLE only, not {s.algorithm}; drop one", "Pipeline parallelism currently only supports EAGLE"
        ),
        "Other drafts are not passed between stages.",
        "sglang/srt/arg_groups/validation_hook.py, check_pipeline_parallel_compat",
        since="0.5.22",
    ),
    Rule(
        "launch.pipeline-layers",
        (PIPELINE, Condition("a model whose EAGLE has several layers", lambda r, s: r.draft.algorithm == "EAGLE" and _layered(r))),
        Refuses(
            "pipeline parallelism does not go with the several draft layers of {r.model.architecture}; drop one",
            "Pipeline parallelism currently only supports EAGLE",
        ),
        "Only one draft layer is passed between stages.",
        "sglang/srt/arg_groups/validation_hook.py, check_pipeline_parallel_compat",
        since="0.5.22",
    ),
    Rule(
        "launch.pipeline-role",
        (PIPELINE, SPECULATION, Condition("not a prefill server", lambda r, s: r.role != "prefill")),
        Refuses(
            "pipeline parallelism drafts on prefill servers only; drop --pp-size or --speculative-algorithm",
            "is only supported on prefill nodes",
        ),
        "Other drafts are not passed between stages.",
        "sglang/srt/arg_groups/validation_hook.py, check_pipeline_parallel_compat",
        since="0.5.22",
    ),
    Rule(
        "launch.chunk-pages",
        (
            Condition(
                "a chunk that holds no whole pages", lambda r, s: s.chunk > 0 and r.role != "decode" and s.chunk % (s.page_size or 1) != 0
            ),
        ),
        Refuses(
            "--chunked-prefill-size {s.chunk} is no multiple of page size {s.page_size}; change one",
            "chunked_prefill_size must be divisible by page_size",
        ),
        "A chunk is written page by page.",
        "sglang/srt/arg_groups/validation_hook.py, check_server_args",
    ),
)

MPS_ONLY = (None, "torch_native")
STANDARD_MPS = Condition("a Mac without MLX", lambda r, s: r.machine.kind == "mps" and r.variable("SGLANG_USE_MLX") is None)

MPS_RULES = (
    Rule(
        "mps.backend",
        (Condition("a field other than torch_native", lambda r, s: not {s.base, s.prefill, s.decode} <= set(MPS_ONLY)),),
        Refuses("a Mac serves on torch_native only; drop the backend flags", "currently supports only the torch_native"),
        "No kernel library runs on Metal.",
        "sglang/srt/arg_groups/validation_hook.py, validate_standard_mps_server_args",
        since="0.5.22",
    ),
    Rule(
        "mps.ranks",
        (Condition("more than one rank", lambda r, s: r.tensor_parallel > 1 or r.pipeline_parallel > 1),),
        Refuses("a Mac serves with one rank; drop --tp-size and --pp-size", "requires tp_size=1"),
        "There is one GPU.",
        "sglang/srt/arg_groups/validation_hook.py, validate_standard_mps_server_args",
        since="0.5.22",
    ),
    Rule(
        "mps.multimodal",
        (Condition("multimodal model", lambda r, s: r.model.architecture in MULTIMODAL[r.version]),),
        Refuses("{r.model.architecture} is not served on a Mac; choose a text model", "Torch MPS multimodal serving does not yet"),
        "No encoder was validated there.",
        "sglang/srt/arg_groups/validation_hook.py, validate_mps_model_config",
        since="0.5.22",
    ),
)

STEPS = (Step("Mac", MPS_RULES, when=(STANDARD_MPS,)), Step("launch", LAUNCH))

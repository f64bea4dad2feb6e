"""What SGLang settles by the platform alone, before its rules look at the model.

Source: sglang/srt/arg_groups/platform_hook.py and sglang/srt/hardware_backend/npu/utils.py, set_default_server_args (0.5.22);
the same rules in 0.5.16 (sglang/srt/server_args.py).
"""

from __future__ import annotations

from backends.gpu import Gpu
from store.scenario import Scenario

# Decode is captured where nobody says otherwise: off on XPUs; on CPUs and Macs the default backend serves without.
DECODE_GRAPHS = ("cuda", "rocm", "npu")
PREFILL_GRAPHS = ("cuda",)

ARM64 = ("aarch64", "arm64")
NPU_PAGE_SIZE = 128
PAGE_SIZE = 1  # sglang/srt/arg_groups/overrides.py, _page_size_default (off MUSA and ROCm's vectorised layout)


def default_page_size(gpu: Gpu) -> int:
    return NPU_PAGE_SIZE if gpu.kind == "npu" else PAGE_SIZE


def platform_notes(scenario: Scenario) -> tuple[str, ...]:
    """What a reader must know of the platform before believing the default."""
    return {"npu": _npu_notes, "mps": _mps_notes}.get(scenario.gpu.kind, lambda _: ())(scenario)


def _npu_notes(scenario: Scenario) -> tuple[str, ...]:
    engine = scenario.engine
    asked = {engine.attention_backend, engine.prefill_attention_backend, engine.decode_attention_backend} - {None, "ascend"}
    return (f"SGLang replaces {' and '.join(sorted(map(str, asked)))} by ascend on an NPU, without a word",) if asked else ()


def _mps_notes(scenario: Scenario) -> tuple[str, ...]:
    """Source: sglang/srt/hardware_backend/mlx (runtime.py, tp_worker.py); sglang/srt/arg_groups/validation_hook.py,
    validate_standard_mps_server_args (0.5.22)."""
    mlx = (
        "with SGLANG_USE_MLX=1 MLX's own runner computes attention: then no backend of this list runs, "
        "although the server's arguments still name torch_native"
    )
    ranks = scenario.engine.tensor_parallel
    return (mlx, *([f"SGLang refuses engine.tensor_parallel={ranks} on MPS: it serves there with one rank"] if ranks > 1 else []))

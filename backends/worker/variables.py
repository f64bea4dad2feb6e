"""Environment variables that change which kernels run or how they are built."""

from __future__ import annotations

from collections.abc import Mapping

# sglang/srt/environ.py, 0.5.22: those that reach attention, without the prefix.
SGLANG_NAMES = """
    FLASHINFER_WORKSPACE_SIZE FLASHINFER_USE_TENSOR_CORE FLASHINFER_USE_PAGED FLASHINFER_PREFILL_SPLIT_TILE_SIZE
    FLASHINFER_DECODE_SPLIT_TILE_SIZE FLASHINFER_AUTOTUNE_CACHE FLASHINFER_AUTOTUNE_EXTEND IS_FLASHINFER_AVAILABLE
    TRITON_DECODE_ATTN_STATIC_KV_SPLITS TRITON_DECODE_SPLIT_TILE_SIZE TRITON_COMPACT_EXTEND_ATTENTION
    TRITON_DENSE_PREFILL_ATTN TRITON_FP8_PREFILL_ATTN USE_SGL_FA3_KERNEL INKLING_FA4_USE_PIP
    TRTLLM_MHA_DECODE_SEQ_LEN_SPLITS SKIP_SOFTMAX_PREFILL_THRESHOLD_SCALE_FACTOR
    SKIP_SOFTMAX_DECODE_THRESHOLD_SCALE_FACTOR USE_HND_KVCACHE ENABLE_POST_CAPTURE_KV_SIZING DISABLE_LEAN_ATTENTION
    DSA_PREFILL_DENSE_ATTN_KV_LEN_THRESHOLD RAGGED_VERIFY_MODE
"""
SGLANG = frozenset(f"SGLANG_{name}" for name in SGLANG_NAMES.split())
EXACT = SGLANG | {"NVIDIA_TF32_OVERRIDE", "LD_PRELOAD", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}
FAMILIES = ("FLASHINFER_", "TRITON_", "CUDA_", "TORCH_", "TORCHINDUCTOR_", "CUBLAS_", "CUBLASLT_", "CUTE_DSL_", "SGLANG_AITER_")
CPU_FAMILIES = ("OMP_", "MKL_", "KMP_", "GOMP_", "ONEDNN_", "DNNL_", "ATEN_CPU_")
# Of these families, but naming a place, a log or the device (which the board's UUID tells).
NOT_KERNEL_NAMES = """
    FLASHINFER_WORKSPACE_BASE FLASHINFER_CACHE_DIR FLASHINFER_CUBIN_DIR FLASHINFER_CUBINS_REPOSITORY
    FLASHINFER_LOGLEVEL FLASHINFER_LOGDEST FLASHINFER_JIT_VERBOSE FLASHINFER_DISABLE_VERSION_CHECK
    TRITON_HOME TRITON_CACHE_DIR TRITON_DUMP_DIR TRITON_PRINT_AUTOTUNING
    CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_HOME CUDA_PATH CUDA_ROOT CUDA_CACHE_PATH CUDA_VERSION
    TORCH_HOME TORCH_LOGS TORCH_LOGS_OUT TORCH_TRACE TORCH_EXTENSIONS_DIR TORCH_CPP_LOG_LEVEL TORCH_SHOW_CPP_STACKTRACES
    TORCHINDUCTOR_CACHE_DIR TORCHINDUCTOR_COMPILE_THREADS CUTE_DSL_CACHE_DIR
"""
NOT_KERNELS = frozenset(NOT_KERNEL_NAMES.split())


def kernel_variables(environ: Mapping[str, str], kind: str) -> tuple[tuple[str, str], ...]:
    """Those set in ``environ``, sorted; thread settings only where ``kind`` is "cpu". Absolute paths read "<path>"."""
    families = FAMILIES + CPU_FAMILIES if kind == "cpu" else FAMILIES
    chosen = (name for name in environ if name in EXACT or name.startswith(families))
    return tuple((name, _without_path(environ[name])) for name in sorted(chosen) if name not in NOT_KERNELS)


def _without_path(value: str) -> str:
    """Pins carry these values and are committed: no folder of this machine may show."""
    return "<path>" if value.startswith(("/", "~")) or ":/" in value or "=/" in value else value

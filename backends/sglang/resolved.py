"""What is really behind a backend's name: the object that was built, and the kernels' inner path it takes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from backends.driver import FellBack

if TYPE_CHECKING:
    from backends.cell import Cell
    from backends.sglang.versions import Names

# Source: sglang/srt/layers/attention/attention_registry.py, 0.5.16 and 0.5.22.
CLASS_OF = {
    "fa3": "FlashAttentionBackend",
    "fa4": "FlashAttentionBackend",
    "flashinfer": "FlashInferAttnBackend",
    "flex_attention": "TorchFlexAttnBackend",
    "torch_native": "TorchNativeAttnBackend",
    "triton": "TritonAttnBackend",
    "trtllm_mha": "TRTLLMHAAttnBackend",
}
LATENT_CLASS_OF = {
    **CLASS_OF,
    "cutlass_mla": "CutlassMLABackend",
    "flashinfer": "FlashInferMLAAttnBackend",
    "flashmla": "FlashMLABackend",
    "trtllm_mla": "TRTLLMMLABackend",
}


def check_class(name: str, backend: Any, latent: bool) -> None:
    """Raise `FellBack` if the registry built another class than the one ``name`` stands for."""
    built, expected = type(backend).__name__, (LATENT_CLASS_OF if latent else CLASS_OF).get(name)
    if expected is not None and built != expected:
        raise FellBack(f"SGLang built {built} for attention backend {name}, which stands for {expected}")


def inner_path(name: str, backend: Any, cell: Cell, names: Names) -> str:
    """The path in words, after the first launch: "fa3:sgl_kernel.flash_attn", "fa2,tensor cores", "ragged fa3 + paged fa2"."""
    if name == "trtllm_mha":
        return _trtllm(backend, cell)
    if name == "fa3":
        return f"fa3:{_fa3_kernel(names)}"
    if type(backend).__name__ in (LATENT_CLASS_OF["flashinfer"], LATENT_CLASS_OF["flashmla"]):
        return _flashinfer_latent(name, backend, cell)
    if name == "flashinfer":
        return _flashinfer_decode(backend) if _decodes(cell) else _flashinfer_prefill(backend)
    return {"torch_native": "sdpa", "flex_attention": "flex"}.get(name, name)


def _decodes(cell: Cell) -> bool:
    """Verify steps go through FlashInfer's prefill wrappers, with a mask."""
    return cell.generates and not cell.verifies


def _trtllm(backend: Any, cell: Cell) -> str:
    """Source: sglang/srt/layers/attention/trtllm_mha_backend.py, is_xqa_impl and, from 0.5.22 on, use_fmha_v2."""
    if cell.generates:
        return "xqa" if backend.is_xqa_impl else "trtllm-gen"
    return "fmha v2" if getattr(backend, "use_fmha_v2", False) else "trtllm-gen"


def _fa3_kernel(names: Names) -> str:
    """sgl_kernel's own entry, or the one from the kernel hub that SGLANG_USE_SGL_FA3_KERNEL=0 asks for."""
    kernels = importlib.import_module(names.FA3_MODULE)._load_fa3_kernels()
    return str(kernels["flash_attn_with_kvcache"].__module__)


def _flashinfer_decode(backend: Any) -> str:
    wrappers = backend.forward_metadata.decode_wrappers
    cores = "tensor cores" if wrappers[0].use_tensor_cores else "CUDA cores"
    return f"{wrappers[0]._backend},{cores}"


def _flashinfer_latent(name: str, backend: Any, cell: Cell) -> str:
    """FlashMLA decodes and verifies with its own kernel and leaves prefill to FlashInfer's backend, whose subclass it is."""
    if name == "flashmla" and cell.generates:
        return name
    metadata = backend.forward_metadata
    if _decodes(cell):
        return str(metadata.decode_wrapper._backend)
    return f"ragged {backend.prefill_wrapper_ragged._backend}" if metadata.use_ragged else f"paged {metadata.prefill_wrapper._backend}"


def _flashinfer_prefill(backend: Any) -> str:
    """Fresh prompts use the ragged wrapper alone; with a cached prefix both run and their states are merged."""
    metadata = backend.forward_metadata
    paged = f"paged {metadata.prefill_wrappers[0]._backend}"
    if not metadata.use_ragged:
        return paged
    ragged = f"ragged {backend.prefill_wrapper_ragged._backend}"
    return ragged if metadata.extend_no_prefix else f"{ragged} + {paged}"

"""The backends vLLM tries where nobody names one, in its order: the first that takes a layer serves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backends.allowed import Allowed, Span
from backends.answers import Answer
from backends.limits import Clause, Scoped, scope_in_words, unmet
from backends.question import RULE_SETS


@dataclass(frozen=True)
class Order(Scoped):
    """``when`` as of a limit. ``asked``: whether a backend that the user names is tried in their place."""

    id: str
    when: tuple[Clause, ...]
    backends: tuple[str, ...]
    because: str
    source: str
    asked: bool = True
    versions: tuple[str, ...] = RULE_SETS["vllm"]

    @property
    def condition(self) -> str:
        return scope_in_words(self.when)


def order_for(answers: Mapping[str, Answer], rules: str) -> Order | None:
    """The first order that surely or perhaps holds for one layer kind; None on a device whose order nobody has read."""
    mine = (order for order in ORDERS if rules in order.versions)
    return next((order for order in mine if unmet(order, answers) is not None), None)


def _when(device: str, attention: str | None = None, **conditions: Iterable[Allowed]) -> tuple[Clause, ...]:
    kinds: tuple[Clause, ...] = (("device", (device,)), *((("attention", (attention,)),) if attention else ()))
    return (*kinds, *((word, tuple(values)) for word, values in conditions.items()))


CUDA = "vllm/platforms/cuda.py, _get_backend_priorities"
ROCM = "vllm/platforms/rocm.py, _get_backend_priorities"
CPU = "vllm/platforms/cpu.py, CpuPlatform.get_attn_backend_cls"
DIFFKV = "vllm/model_executor/models/mimo_v2.py, MiMoV2Attention"

SM9X, SM10X, SM12X = (Span("90", "99"),), (Span("100", "109"),), (Span("120", "129"),)
PREFIX = ("in both directions",)
DENSE = ("FLASH_ATTN", "FLASHINFER", "TRITON_ATTN", "FLEX_ATTENTION", "TURBOQUANT")
DENSE_SM10X = ("FLASHINFER", "FLASH_ATTN", "TRITON_ATTN", "FLEX_ATTENTION", "TURBOQUANT")
LATENT_SM10X = ("FLASHINFER_MLA", "TOKENSPEED_MLA", "CUTLASS_MLA", "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA")
LATENT = ("FLASH_ATTN_MLA", "FLASHMLA", "FLASHINFER_MLA", "TRITON_MLA")
SPARSE = ("FLASH_ATTN_MLA_SPARSE", "FLASHMLA_SPARSE", "FLASHINFER_MLA_SPARSE_SM90")

FEW_HEADS = 16  # FlashMLA pads query heads

ORDERS = (
    Order(
        "cuda.unequal_widths",
        _when("cuda", "mha", kv_widths=("unequal",)),
        ("FLASH_ATTN_DIFFKV", "TRITON_ATTN_DIFFKV"),
        "The model's own code takes FlashAttention where FA3 or FA4 runs, Triton elsewhere.",
        DIFFKV,
        asked=False,
    ),
    Order(
        "cuda.dense.sm10x.images",
        _when("cuda", "mha", sm=SM10X, images=PREFIX),
        ("TRITON_FLASHINFER", *DENSE_SM10X),
        "Image tokens see each other in both directions, which one Triton kernel does; all others may use FlashInfer.",
        CUDA,
    ),
    Order(
        "cuda.dense.sm10x",
        _when("cuda", "mha", sm=SM10X),
        DENSE_SM10X,
        "FlashInfer brings the trtllm-gen kernels of data-centre Blackwell.",
        CUDA,
    ),
    Order(
        "cuda.dense.sm9x.images",
        _when("cuda", "mha", sm=SM9X, images=PREFIX),
        ("TRITON_FLASH_ATTN", *DENSE),
        "Image tokens see each other in both directions, which one Triton kernel does; all others may use FlashAttention.",
        CUDA,
    ),
    Order("cuda.dense", _when("cuda", "mha"), DENSE, "FlashAttention comes first off data-centre Blackwell.", CUDA),
    Order(
        "cuda.mla.sm10x.quantized",
        _when("cuda", "mla", sm=SM10X, kv_kind=("quantized",)),
        (*LATENT_SM10X, "FLASHINFER_MLA_SPARSE", "FLASHMLA_SPARSE"),
        "FlashInfer is preferred for sparse layers with a quantized KV cache.",
        CUDA,
    ),
    Order(
        "cuda.mla.sm10x.few_heads",
        _when("cuda", "mla", sm=SM10X, query_heads=(Span(None, str(FEW_HEADS)),)),
        (*LATENT_SM10X, "FLASH_ATTN_MLA_SPARSE_FA4", "FLASHINFER_MLA_SPARSE", "FLASHMLA_SPARSE"),
        "FlashMLA pads query heads, so it comes last where a rank has few.",
        CUDA,
    ),
    Order(
        "cuda.mla.sm10x",
        _when("cuda", "mla", sm=SM10X),
        (*LATENT_SM10X, "FLASHMLA_SPARSE", "FLASHINFER_MLA_SPARSE"),
        "FlashInfer's trtllm-gen kernels come first.",
        CUDA,
    ),
    Order(
        "cuda.mla.sm12x",
        _when("cuda", "mla", sm=SM12X),
        ("TRITON_MLA", "FLASHINFER_MLA_SPARSE_SM120"),
        "Few kernels for latent attention are made for it.",
        CUDA,
    ),
    Order(
        "cuda.mla.512",
        _when("cuda", "mla", head_size=(512,)),
        (*LATENT, "FLASHINFER_MLA_SPARSE_SM90", *SPARSE[:2]),
        "FlashInfer's Hopper kernel takes a latent head without positions.",
        CUDA,
    ),
    Order("cuda.mla", _when("cuda", "mla"), (*LATENT, *SPARSE), "FlashAttention comes first off Blackwell.", CUDA),
    Order(
        "rocm.sparse",
        _when("rocm", "mla", keys=("indexed",)),
        ("ROCM_AITER_MLA_SPARSE",),
        "Only AITER takes keys that an index chooses.",
        ROCM,
    ),
    Order("rocm.mla", _when("rocm", "mla"), ("TRITON_MLA",), "AITER's own is tried with VLLM_ROCM_USE_AITER=1 alone.", ROCM),
    Order(
        "rocm.dense",
        _when("rocm", "mha"),
        ("ROCM_ATTN", "ROCM_AITER_UNIFIED_ATTN", "TRITON_ATTN", "TURBOQUANT"),
        "AITER's FlashAttention is tried with VLLM_ROCM_USE_AITER=1 alone.",
        ROCM,
    ),
    Order("cpu.mla.amx", _when("cpu", "mla", cpu=("with AMX",)), ("AMX_MLA",), "The processor has AMX tiles.", CPU, asked=False),
    Order("cpu.mla", _when("cpu", "mla"), ("CPU_MLA",), "There is one backend for latent attention.", CPU, asked=False),
    Order("cpu.dense", _when("cpu", "mha"), ("CPU_ATTN",), "There is one backend for plain attention.", CPU, asked=False),
)
# Never tried by itself.
BY_NAME_ALONE = {("cuda", "mha"): ("B12X", "HPC_ATTN")}


def names_for(device: str, attention: str) -> tuple[str, ...]:
    """Every backend that is judged for this kind of attention there, tried or named."""
    conditions = {("device", (device,)), ("attention", (attention,))}
    tried = (order.backends for order in ORDERS if order.asked and conditions <= set(order.when))
    return tuple(dict.fromkeys((*(name for backends in tried for name in backends), *BY_NAME_ALONE.get((device, attention), ()))))

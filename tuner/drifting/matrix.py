"""SGLang's printed support matrix as data, and the questions that its columns stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from backends.cell import Phase
from backends.gpu import Gpu
from backends.model import Attention, LayerKind, Model
from backends.question import KNOWN_SM, Question

PAGE = "attention_backend.mdx"


@dataclass(frozen=True)
class DocsRow:
    """What the matrix says of a backend for one kind of attention. ``pages``: native sizes, empty = it names none;
    ``window`` None = the matrix has no such column."""

    backend: str
    attention: str
    fp8_kv: bool
    topk_1: bool
    topk_many: bool
    window: bool | None = None
    pages: tuple[int, ...] = ()

    @property
    def where(self) -> str:
        return f"{PAGE}, {self.attention.upper()} matrix"


@dataclass(frozen=True)
class Column:
    """``asks`` changes a plain question to one about the column, whose limits are those of ``rule``."""

    title: str
    rule: str
    asks: Callable[[Question], Question]


def _windowed(question: Question) -> Question:
    return replace(question, layers=tuple(replace(layer, sliding_window=4096) for layer in question.layers))


COLUMNS = {
    "fp8_kv": Column("FP8 KV cache", "kv_dtype", lambda plain: replace(plain, kv_dtype="float8_e4m3fn", kv_flag="fp8_e4m3")),
    "topk_1": Column("drafts with topk 1", "topk", lambda plain: replace(plain, speculation="EAGLE", topk=1)),
    "topk_many": Column("drafts with topk above 1", "topk", lambda plain: replace(plain, speculation="EAGLE", topk=4)),
    "window": Column("sliding windows", "sliding_window", _windowed),
}


def _gpu(name: str, kind: str, sm: int | None = None, arch: str | None = None, amx: bool = False) -> Gpu:
    return Gpu(name, kind, sm, None, None, None, None, None, 227 << 10, "13.0", "made up", amx, None, arch)


PLACES = (
    *(_gpu(f"sm {sm}", "cuda", sm) for sm in KNOWN_SM),
    *(_gpu("ROCm", "rocm", arch="gfx942"), _gpu("a CPU with AMX", "cpu", amx=True), _gpu("an NPU", "npu"), _gpu("an XPU", "xpu")),
)
LAYERS = {"mha": LayerKind("full", 32, 32, 8, 128, 128), "mla": LayerKind("full", 61, 16, 1, 576, 512)}


def plain_question(row: DocsRow, gpu: Gpu, rules: str) -> Question:
    """With nothing asked that the matrix speaks of."""
    architecture = "LlamaForCausalLM" if row.attention == "mha" else "DeepseekV2ForCausalLM"
    layer = LAYERS[row.attention]
    model = Model("plain", architecture, Attention(row.attention), (layer,), 4096, 128256, 8e9, 8e9, "bfloat16", 131072, "")
    return Question(model, (layer,), gpu, Phase.DECODE, "bfloat16", "auto", 1, None, 0, (), rules)

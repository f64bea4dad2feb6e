"""What models, caches and servers ask of an attention backend beyond plain heads: one table for every test that holds backends to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from backends.cell import Cell, Phase
from backends.drafting import Drafting
from backends.latent import attended
from backends.model import Attention, LayerKind, Model

PREFILL, DECODE = (Phase.PREFILL,), (Phase.DECODE,)
E4M3, E5M2 = "float8_e4m3fn", "float8_e5m2"
ARCHITECTURES = {Attention.MHA: "LlamaForCausalLM", Attention.MLA: "DeepseekV3ForCausalLM"}


@dataclass(frozen=True)
class Size:
    """How large a test is: heads that hold KV, a window, and the requests of each step as contexts and new tokens. A head that is to be
    absorbed has ``latent`` widths."""

    kv_heads: int
    window: int
    decode: tuple[int, ...]
    prefills: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    chunks: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    long: tuple[tuple[int, ...], tuple[int, ...]]
    latent: tuple[int, int] = (576, 512)


SMALL = Size(
    kv_heads=1,
    window=20,
    decode=(5, 40),
    prefills=(("mixed prefixes", (50, 20), (16, 20)),),
    chunks=((50, 20, 33), (16, 20, 1), (50, 20, 10)),
    long=((50, 30), (16, 3)),
    latent=(288, 256),  # Triton has tiles for both
)
LARGE = Size(
    kv_heads=4,
    window=128,
    decode=(5, 900, 2, 4097, 64),
    prefills=(("fresh", (1000, 37), (1000, 37)), ("short prefix", (1500, 700), (300, 1)), ("mixed prefixes", (1500, 700), (300, 700))),
    chunks=((1500, 700, 900, 64), (300, 700, 1, 1), (1500, 700, 500, 63)),
    long=((9000, 3000), (700, 500)),
)


@dataclass(frozen=True)
class Feature:
    """``rules``: the words of limits that may speak against a backend which has it not. ``beside_windows``: other layers of the model have
    a window, whose backends may prepare a step of all layers by it."""

    name: str
    rules: tuple[str, ...] = ()
    head_dim: int = 128
    value_head_dim: int | None = None
    group: int = 4
    windowed: bool = False
    beside_windows: bool = False
    sinks: bool = False
    latent: bool = False
    kv_dtype: str = "bfloat16"
    scales: tuple[float, float] | None = None
    soft_cap: float | None = None
    drafting: Drafting | None = None
    deterministic: bool = False
    mixed: bool = False

    def __str__(self) -> str:
        return self.name

    def kind(self, size: Size) -> LayerKind:
        if self.latent:
            width, value = size.latent
            return LayerKind("full", 4, 16, 1, width, value, scale=0.1352)
        window = size.window if self.windowed else None
        heads, value = size.kv_heads, self.value_head_dim or self.head_dim
        return LayerKind("full", 4, heads * self.group, heads, self.head_dim, value, sliding_window=window, sinks=self.sinks)

    def model(self, size: Size, dtype: str, context_length: int) -> Model:
        attention = Attention.MLA if self.latent else Attention.MHA
        kind, cap = self.kind(size), self.soft_cap
        layers = (kind, replace(kind, name="window", sliding_window=size.window)) if self.beside_windows else (kind,)
        sizes = (4096, 1000, 1e9, 1e9, dtype, context_length, "made up", cap)
        return Model("made up", ARCHITECTURES[attention], attention, layers, *sizes)

    def stored(self, dtype: str) -> str:
        """The KV dtype beside a model in ``dtype``."""
        return dtype if self.kv_dtype == "bfloat16" else self.kv_dtype

    def cells(self, size: Size, dtype: str, phases: tuple[Phase, ...], padded: int) -> Iterator[Cell]:
        """One of each step that ``phases`` serve; ``padded``: requests that a captured batch has more than the cell."""
        kind = self.kind(size)
        if self.drafting is not None and phases:
            yield self._verify(size, phases[0], padded, dtype)
            return
        if self.mixed:
            yield from (self._cell("chunks", side, kind, *size.chunks, 0, dtype) for side in phases if side is Phase.PREFILL)
            return
        if Phase.DECODE in phases:
            prompts = tuple(max(1, context // 2) for context in size.decode)
            yield self._cell("decode", Phase.DECODE, kind, size.decode, (1,) * len(prompts), prompts, padded, dtype)
        if Phase.PREFILL in phases:
            long = (("long prefix", *size.long),) if self.latent else ()
            for name, contexts, new in (*size.prefills, *long):
                yield self._cell(name, Phase.PREFILL, kind, contexts, new, contexts, 0, dtype)

    def _verify(self, size: Size, side: Phase, padded: int, dtype: str) -> Cell:
        assert self.drafting is not None
        width = self.drafting.tokens
        contexts, prompts = tuple(context + width for context in size.decode), tuple(max(1, context // 2) for context in size.decode)
        cell = self._cell("verify", Phase.PREFILL, self.kind(size), contexts, (width,) * len(contexts), prompts, 0, dtype)
        layer = self.kind(size)
        return replace(cell, phase=side, draft=self.drafting.tree, layer=layer, padded_batch=len(contexts) + padded)

    def _cell(
        self,
        name: str,
        phase: Phase,
        kind: LayerKind,
        contexts: tuple[int, ...],
        new: tuple[int, ...],
        prompts: tuple[int, ...],
        padded: int,
        dtype: str,
    ) -> Cell:
        layer = attended(kind, ARCHITECTURES[Attention.MLA], phase is Phase.DECODE)
        return Cell(name, phase, layer, contexts, new, prompts, len(contexts) + padded, dtype, 3)


def _drafts() -> Iterator[Feature]:
    rules = ("speculation", "topk")
    for tokens in (2, 4, 16):
        yield Feature(f"verify a chain of {tokens}", rules, drafting=Drafting("EAGLE", 1, tokens - 1, tokens))
    yield Feature("verify a tree of 8", rules, drafting=Drafting("EAGLE", 4, 5, 8))
    yield Feature("verify latent", (*rules, "attention", "sm"), latent=True, drafting=Drafting("EAGLE", 1, 3, 4))


FEATURES = (
    Feature("plain"),
    *(Feature(f"head dim {width}", ("head_dim",), head_dim=width) for width in (64, 96, 192, 256)),
    *(Feature(f"group of {group}", ("group",), group=group) for group in (1, 2, 8, 16, 5, 6, 7, 12)),
    Feature("unequal widths", ("widths",), head_dim=192, value_head_dim=128),
    Feature("latent", ("attention", "sm"), latent=True),
    Feature("window", ("sliding_window",), windowed=True),
    Feature("full beside a window", ("sliding_window",), beside_windows=True),
    Feature("sinks", ("sinks",), sinks=True, head_dim=64),
    Feature("sinks in a window", ("sinks", "sliding_window"), sinks=True, windowed=True, head_dim=64),
    Feature("soft cap", ("soft_cap",), soft_cap=50.0),
    *(
        Feature(f"{dtype} {said}", ("kv_dtype",), kv_dtype=dtype, scales=scales)
        for dtype, (said, scales) in product((E4M3, E5M2), (("without scales", None), ("scaled", (0.5, 0.25))))
    ),
    *_drafts(),
    Feature("mixed chunks", mixed=True),
    Feature("deterministic", ("deterministic",), deterministic=True),
)

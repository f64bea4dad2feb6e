"""What of a step is not attention, on one rank, in sizes; and what it took."""

from __future__ import annotations

from dataclasses import dataclass

from backends.dtypes import ELEMENT_BYTES

GATED = 3  # matrices of a gated MLP: gate, up, down


@dataclass(frozen=True)
class LayerShape:
    """Layers of one kind on one rank. Elements of one token: ``query`` its queries, ``key`` and ``value`` what it adds to the cache,
    ``output`` what attention leaves of it."""

    layers: int
    query: int
    key: int
    value: int
    output: int

    @property
    def projected(self) -> int:
        return self.query + self.key + self.value


@dataclass(frozen=True)
class StepShape:
    """``rows`` tokens go through the projections of attention, ``mlp_rows`` through what follows them (those of every group of ranks),
    logits are made of ``logit_rows``. ``mlp_width`` is that of one expert on this rank; a dense MLP is one expert of one, and all have
    gate, up and down. ``vocab``: logits on this rank."""

    dtype: str
    hidden: int
    layers: tuple[LayerShape, ...]
    mlp_width: int
    experts: int
    experts_per_token: int
    vocab: int
    rows: int
    mlp_rows: int
    logit_rows: int

    @property
    def element(self) -> int:
        return ELEMENT_BYTES[self.dtype]

    @property
    def touched(self) -> int:
        """Experts that ``mlp_rows`` tokens reach on average, if each chooses evenly and by itself."""
        missed = (1 - self.experts_per_token / self.experts) ** self.mlp_rows
        return max(1, round(self.experts * (1 - missed)))

    @property
    def expert_rows(self) -> int:
        """Tokens of one touched expert, evenly spread."""
        return -(-self.mlp_rows * self.experts_per_token // self.touched)

    def layer_bytes(self, kind: LayerShape) -> int:
        """Of the weights that one layer reads."""
        mlp = GATED * self.touched * self.mlp_width + (self.experts if self.experts > 1 else 0)
        return self.element * self.hidden * (kind.projected + kind.output + mlp)

    @property
    def head_bytes(self) -> int:
        return self.element * self.hidden * self.vocab

    def flops(self) -> float:
        """Of the products of the whole step."""
        routed = self.touched * self.expert_rows * self.mlp_width * GATED
        layers = sum(kind.layers * (self.rows * (kind.projected + kind.output) + routed) for kind in self.layers)
        return 2.0 * self.hidden * (layers + self.logit_rows * self.vocab)

    def weight_bytes(self) -> int:
        return sum(kind.layers * self.layer_bytes(kind) for kind in self.layers) + self.head_bytes


@dataclass(frozen=True)
class RestTimes:
    """Everything of one step but attention and what ranks send each other, in ms, one value a visit. ``fused_ms``: what an engine
    fuses is one pass over the same bytes; ``apart_ms``: every piece has a kernel of its own. ``mode`` "graph" or "eager".
    ``why_none`` instead of times: the sentence why there are none."""

    shape: StepShape
    mode: str
    fused_ms: tuple[float, ...] = ()
    apart_ms: tuple[float, ...] = ()
    why_none: str | None = None

    def __post_init__(self) -> None:
        if (self.why_none is None) is not bool(self.fused_ms and self.apart_ms):
            raise ValueError("the rest of a step has times in both ways, or the reason why it has none")

"""The question a run answers: model x gpu x traffic x engine, how it is measured and how it is decided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.cell import Cell, PageLayout, Phase
from backends.gpu import Gpu
from backends.model import Model
from backends.reason import Reason
from backends.spec import TimingSpec
from store.revisit import Condition
from store.search import Search
from store.traffic import Traffic


@dataclass(frozen=True)
class Speculation:
    """What was written on the command line; None = left out (which the engine may treat differently from its value).
    ``draft_backend`` is the attention backend of the draft, ``attention_mode`` the side whose backend verifies ("prefill" or "decode").
    ``accepted_length``: tokens that a verify step gives a request on average, the sure one among them; None = nobody has measured it."""

    algorithm: str | None = None
    topk: int | None = None
    steps: int | None = None
    draft_tokens: int | None = None
    draft_backend: str | None = None
    attention_mode: str | None = None
    accepted_length: float | None = None


BOTH = tuple(Phase)


class Role(str, Enum):
    """What a server does of a request: all of it, or one side of a prefill/decode disaggregation."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"

    @property
    def phases(self) -> tuple[Phase, ...]:
        return BOTH if self is Role.UNIFIED else (Phase(self.value),)


@dataclass(frozen=True)
class Engine:
    """``command`` ends in a Python that can start the worker (empty: this one); ``path`` are folders put first on its path. ``features``
    must keep working ("deterministic", "radix_cache", "speculative", ...). None = the engine's own default.
    ``attention_backend`` and the two split fields are the user's explicit choice, never overridden. Of ``tensor_parallel`` ranks
    ``attn_dp_size`` groups serve requests of their own, ``attn_cp_size`` split a prefill's tokens, ``dcp_size`` a context's keys.
    ``allow_serving_jit``: a backend that may compile kernels while it serves may be pinned too; ``allow_fp8_kv``: an FP8 KV cache, which
    changes answers, likewise; ``allow_deviations``: a backend whose answers are known to deviate, likewise. ``cuda_graph_max_bs`` and
    ``cuda_graph_bs`` are decode batches. ``mixed_chunk``: requests decode in the steps that compute others' prompts.
    ``swa_full_tokens_ratio``: tokens of the windows' pool for each of the full layers'."""

    name: str
    version: str
    tensor_parallel: int
    command: tuple[str, ...]
    path: tuple[str, ...]
    speculation: Speculation
    kv_cache_dtype: str
    page_size: int | None
    context_length: int | None
    features: tuple[str, ...]
    attention_backend: str | None
    prefill_attention_backend: str | None
    decode_attention_backend: str | None
    mem_fraction_static: float | None
    attn_dp_size: int = 1
    attn_cp_size: int = 1
    dcp_size: int = 1
    role: Role = Role.UNIFIED
    allow_serving_jit: bool = False
    pipeline_parallel: int = 1
    disable_cuda_graph: bool = False
    cuda_graph_max_bs: int | None = None
    cuda_graph_bs: tuple[int, ...] = ()
    hierarchical_cache: bool = False
    swa_full_tokens_ratio: float | None = None
    disable_hybrid_swa_memory: bool = False
    allow_fp8_kv: bool = False
    mixed_chunk: bool = False
    allow_deviations: bool = False

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        """(field, backend) of each explicit choice."""
        fields = ("attention_backend", "prefill_attention_backend", "decode_attention_backend")
        return tuple((field, getattr(self, field)) for field in fields if getattr(self, field) is not None)


class Objective(str, Enum):
    THROUGHPUT = "throughput"
    TPOT = "tpot"
    TTFT = "ttft"


@dataclass(frozen=True)
class Variant:
    """A backend measured with other settings of its ``knobs`` too, as an arm of its own."""

    backend: str
    knobs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Measure:
    """How long and how often. ``processes`` fresh processes a run; ``memory_fraction`` of free device memory;
    ``backends`` is the user's selection of candidates (empty = all), ``seed`` fixes lengths, order and placement;
    ``import_ahead`` lets a process import while the one before it measures; ``page_layout`` is where the KV of a request lies,
    of which "served" is what the engine does and the others show how much hangs on it; ``sensitivity``: conditions under which the
    finalists are measured once more; ``variants`` are arms that no engine's flag asks for; ``anchors``: kernels that never change are
    timed around the run; ``search``: of settings beside those, None = no knob is turned that nobody asked for; ``rest``: what of a step is
    not attention is measured where the board's is not known."""

    profile: str
    processes: int
    timing: TimingSpec
    memory_fraction: float
    backends: tuple[str, ...]
    seed: int
    import_ahead: bool = False
    page_layout: PageLayout = PageLayout.SERVED
    sensitivity: tuple[Condition, ...] = ()
    variants: tuple[Variant, ...] = ()
    anchors: bool = False
    search: Search | None = None
    rest: bool = False


@dataclass(frozen=True)
class Decide:
    """Fractions, not percent: ``min_gain`` of a step, ``max_cell_loss`` against the default, ``tie_margin`` of attention time."""

    objective: Objective
    min_gain: float
    max_cell_loss: float
    tie_margin: float
    confidence: float
    sigma_floor: float


@dataclass(frozen=True)
class Scenario:
    model: Model
    gpu: Gpu
    traffic: Traffic
    engine: Engine
    measure: Measure
    decide: Decide


@dataclass(frozen=True)
class WeightedCell:
    """A cell and how much it counts. ``calls_per_1000_tokens`` = steps of this kind per 1000 output tokens (decode:
    1000 x token_share / batch); each step calls attention in ``layers`` layers. ``token_share`` is the share of output
    tokens (decode) or of computed prompt tokens (prefill); the shares of a phase sum to 1. Both are 0 for a guard: a cell that
    traffic does not visit, measured so that no pick loses there."""

    cell: Cell
    layers: int
    calls_per_1000_tokens: float
    token_share: float

    @property
    def is_guard(self) -> bool:
        return self.calls_per_1000_tokens == 0


# Rules of exclusions that are no limit of the backend: attnpin has no driver for it, the user left it out.
NO_DRIVER, NOT_SELECTED = "driver", "selection"


@dataclass(frozen=True)
class Exclusion:
    """A backend that will not be measured in ``phase`` (None = both), and every reason why."""

    backend: str
    phase: str | None
    reasons: tuple[Reason, ...]

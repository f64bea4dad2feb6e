"""A workload point: what one attention call of a served step works on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.drafting import NO_DRAFT, Tree, depths, require_tree
from backends.model import LayerKind


class Phase(str, Enum):
    DECODE = "decode"
    PREFILL = "prefill"


class PageLayout(str, Enum):
    """Where a request's pages lie in the pool: as the engine's allocator would place them, shuffled, or in one run."""

    SERVED = "served"
    RANDOM = "random"
    CONTIGUOUS = "contiguous"


@dataclass(frozen=True)
class Cell:
    """One batch of requests in one phase, per tensor-parallel rank.

    ``context_lens`` counts every key a request's last new token sees, the new ones included; ``new_lens`` the query
    tokens of this step (decode: 1 each); ``prompt_lens`` how much of the context came in as prompt, which decides how
    the allocator laid its pages out. The three run over requests. ``padded_batch`` is the batch the engine launches
    (the captured size for decode, the batch itself otherwise). ``layer`` holds heads per rank. The first ``shared_prefix``
    tokens of all requests are the same, as a system prompt's are, and lie in the same pages as far as those are whole.
    ``draft``: of a verify step, what each request's new tokens follow; it is served by the backend of ``phase``, whichever that is.
    """

    name: str
    phase: Phase
    layer: LayerKind
    context_lens: tuple[int, ...]
    new_lens: tuple[int, ...]
    prompt_lens: tuple[int, ...]
    padded_batch: int
    dtype: str
    seed: int
    page_layout: PageLayout = PageLayout.SERVED
    shared_prefix: int = 0
    draft: Tree = NO_DRAFT

    def __post_init__(self) -> None:
        if not len(self.context_lens) == len(self.new_lens) == len(self.prompt_lens):
            raise ValueError(f"cell {self.name}: context_lens, new_lens and prompt_lens differ in length")
        if not self.context_lens or any(new < 1 or new > context for new, context in zip(self.new_lens, self.context_lens)):
            raise ValueError(f"cell {self.name}: every request needs 1 <= new_lens <= context_lens")
        require_tree(self.draft)
        if self.verifies and set(self.new_lens) != {len(self.draft)}:
            raise ValueError(f"cell {self.name}: a verify step has the {len(self.draft)} tokens of its draft in each request")
        if self.phase is Phase.DECODE and not self.verifies and set(self.new_lens) != {1}:
            raise ValueError(f"cell {self.name}: a decode step has one new token a request")
        if self.padded_batch < len(self.context_lens):
            raise ValueError(f"cell {self.name}: padded_batch {self.padded_batch} is below the batch {len(self.context_lens)}")

    @property
    def verifies(self) -> bool:
        """Whether it judges drafted tokens."""
        return bool(self.draft)

    @property
    def generates(self) -> bool:
        """Whether every request gets output tokens from it, decoded or verified: what TPOT counts, and what the engine captures."""
        return self.phase is Phase.DECODE or self.verifies

    @property
    def mixed(self) -> bool:
        """Whether some requests decode in a step that computes others' prompts (chunked prefill, mixed)."""
        decoding = [prompt < context for prompt, context in zip(self.prompt_lens, self.context_lens)]
        return not self.generates and any(decoding) and not all(decoding)

    @property
    def batch(self) -> int:
        return len(self.context_lens)

    @property
    def padded_tokens(self) -> int:
        """Query tokens that the engine launches."""
        return self.padded_batch * max(1, len(self.draft)) if self.generates else self.new_tokens

    @property
    def new_tokens(self) -> int:
        return sum(self.new_lens)

    @property
    def prefix_lens(self) -> tuple[int, ...]:
        """Tokens of each request that were in the pool before this step."""
        return tuple(context - new for context, new in zip(self.context_lens, self.new_lens))

    @property
    def shared_lens(self) -> tuple[int, ...]:
        """How many tokens at its head each request shares: of its prompt, and of what was in the pool before."""
        return tuple(min(self.shared_prefix, prompt, prefix) for prompt, prefix in zip(self.prompt_lens, self.prefix_lens))


def visible_keys(cell: Cell) -> int:
    """Keys that one query head of one KV group reads over all requests, each once: a window bounds them, shared ones count once."""
    window = cell.layer.sliding_window
    seen = [context if window is None else min(context, window + new - 1) for context, new in zip(cell.context_lens, cell.new_lens)]
    shared = [(context - keys, end) for context, keys, end in zip(cell.context_lens, seen, cell.shared_lens) if context - keys < end]
    return sum(seen) - sum(end - start for start, end in shared) + _covered(shared)


def _covered(spans: list[tuple[int, int]]) -> int:
    """Integers in at least one of ``spans`` (start, end), ends excluded."""
    covered, reached = 0, 0
    for start, end in sorted(spans):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def kv_bytes(cell: Cell, kv_element_bytes: float) -> float:
    """Unique KV bytes one call must read: every visible key and value of every request once, per layer and rank."""
    return visible_keys(cell) * cell.layer.cached_width * kv_element_bytes


def attention_flops(cell: Cell) -> int:
    """Multiply-adds x 2 of QK^T and PV over the pairs a causal or a draft's mask (and window) leaves, live rows only."""
    window = cell.layer.sliding_window
    pairs = 0
    for context, new in zip(cell.context_lens, cell.new_lens):
        lengths = [context - new + 1 + depth for depth in (depths(cell.draft) or range(new))]
        pairs += sum(lengths) if window is None else sum(min(length, window) for length in lengths)
    return 2 * pairs * cell.layer.query_heads * (cell.layer.head_dim + cell.layer.value_head_dim)

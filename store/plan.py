"""What `attnpin plan` says before anything runs: the default, the arms, what is left out, the cells, the cost."""

from __future__ import annotations

from dataclasses import dataclass

from backends.arm import Arm
from backends.cell import Phase
from backends.drafting import Drafting
from backends.reason import Reason
from store.engines.rule_path import RuleStep
from store.engines.serving_terms import ServingTerms
from store.runs.run import DefaultPick
from store.scenario import Exclusion, Scenario, WeightedCell
from store.search import Space


@dataclass(frozen=True)
class Server:
    """The sizes of the server the scenario would start, per rank, by the engine's own formulas; an estimate where it
    rests on weights. ``captured_batches``: decode batches with a CUDA graph, empty = none. ``pool_tokens``: KV capacity for
    the requests of one group of ranks (attention data parallelism has several), which may split them by ``kv_bytes_per_token``.
    ``static_bytes``: what weights and pool may take together. None = unknown, or (``max_running_requests``) no limit of its own.
    ``drafting``: its speculative decoding as it is resolved, None = none; verify steps run on the backend of ``verify_side``."""

    context_length: int
    chunked_prefill_size: int
    captured_batches: tuple[int, ...]
    max_running_requests: int | None
    mem_fraction_static: float | None
    weight_bytes: int
    kv_bytes_per_token: int
    pool_tokens: int | None
    static_bytes: int | None = None
    drafting: Drafting | None = None
    verify_side: Phase = Phase.PREFILL


@dataclass(frozen=True)
class PageSize:
    """``backend`` would run with ``tokens`` a page although ``asked`` was set (None = the engine's default)."""

    backend: str
    asked: int | None
    tokens: int


@dataclass(frozen=True)
class PairExclusion:
    """Two backends that may each serve their phase, but not together."""

    prefill: str
    decode: str
    reason: Reason


@dataclass(frozen=True)
class Estimate:
    """Predicted, not measured. ``seconds`` of a whole run without kernel builds, ``memory_bytes`` at the most on the device;
    None = cannot be said. ``basis`` says from what."""

    seconds: float | None
    memory_bytes: int | None
    basis: str


@dataclass(frozen=True)
class Plan:
    """``eager``: backends of ``arms`` that the engine serves without CUDA graphs. ``notes`` are sentences that also
    hold of the result, ``beforehand`` those that a run answers itself: what is taken for granted of the worker, what could fail;
    ``fatal`` those because of which a run would pin nothing, ``refused`` the one of them by which the engine surely would not start.
    ``path``: the engine's rules that led to the default, in order; ``space``: what a search would try, None = none is wished."""

    scenario: Scenario
    default: DefaultPick
    server: Server
    arms: tuple[Arm, ...]
    exclusions: tuple[Exclusion, ...]
    page_sizes: tuple[PageSize, ...]
    cells: tuple[WeightedCell, ...]
    eager: tuple[str, ...]
    estimate: Estimate
    notes: tuple[str, ...]
    beforehand: tuple[str, ...]
    fatal: tuple[str, ...] = ()
    terms: tuple[ServingTerms, ...] = ()
    apart: tuple[PairExclusion, ...] = ()
    path: tuple[RuleStep, ...] = ()
    refused: str | None = None
    space: Space | None = None

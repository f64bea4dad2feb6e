"""Traffic that was read from a file: what was in it, and the few steps of a server that stand for all of its."""

from __future__ import annotations

from dataclasses import dataclass

from backends.cell import Phase


@dataclass(frozen=True)
class RecordedStep:
    """A step that stands for others; lengths run over its requests, as `Cell` has them. ``token_share`` of its phase's tokens,
    ``attention_share`` of its phase's predicted attention time; ``block_steps``: how many such steps there were in each block of the
    log."""

    phase: Phase
    context_lens: tuple[int, ...]
    new_lens: tuple[int, ...]
    prompt_lens: tuple[int, ...]
    token_share: float
    attention_share: float
    steps_per_1000_tokens: float
    block_steps: tuple[float, ...]


@dataclass(frozen=True)
class SpareStep:
    """A step that stands for a part of what step number ``of`` stands for: the cell that is added where measured times bend there."""

    of: int
    step: RecordedStep


@dataclass(frozen=True)
class Coverage:
    """Share of a phase's predicted attention time in steps that some step of the record is like: within a factor of 2 in batch, new
    tokens and context. ``outside`` says in words what is not; "" = nothing."""

    phase: Phase
    share: float
    outside: str


@dataclass(frozen=True)
class RecordedTraffic:
    """``sha256`` of what was read, ``layout`` as what. Of ``rows`` ``bad`` were left out, ``notes`` say why and what else is to be known.
    ``blocks`` of ``block_s`` seconds have ``block_tokens`` output tokens each. ``tpot_ms`` and ``ttft_ms``: (median, 99th percentile)
    that the replay predicts, ``decode_share`` attention's part of the time in which requests decode; None = the file tells steps, not
    requests. ``spare`` steps are no cells yet."""

    sha256: str
    layout: str
    rows: int
    bad: int
    notes: tuple[str, ...]
    block_s: float
    block_tokens: tuple[float, ...]
    steps: tuple[RecordedStep, ...]
    coverage: tuple[Coverage, ...]
    tpot_ms: tuple[float, float] | None = None
    ttft_ms: tuple[float, float] | None = None
    decode_share: float | None = None
    spare: tuple[SpareStep, ...] = ()

"""How much of a step attention is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepModel:
    """Attention's share of a step, as a range over what the rest of it may take: ``measured`` on the board, or predicted over
    ``efficiency`` and small-kernel time. ``rest_ms_high`` is None where no rate of the machine bounds the rest; the share then begins
    at 0."""

    phase: str
    cell: str
    attention_ms: float
    rest_ms_low: float
    rest_ms_high: float | None
    share_low: float
    share_high: float
    measured: bool = False

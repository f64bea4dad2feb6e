"""Arms that a server would never ask for anything: of a side on which it runs no step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.reason import Reason
from store.scenario import Exclusion, WeightedCell
from tuner.limits import Sifted, serves


def without_idle(sifted: Sifted, cells: Iterable[WeightedCell]) -> Sifted:
    """``sifted`` without arms that serve no phase of ``cells``; a server that verifies drafts on the prefill side decodes nothing."""
    phases = {weighted.cell.phase for weighted in cells}
    idle = tuple(arm for arm in sifted.arms if not any(serves(arm, phase, sifted.exclusions) for phase in phases))
    if not idle:
        return sifted
    names, ran = dict.fromkeys(arm.backend for arm in idle), " and ".join(sorted(phase.value for phase in phases))
    added = tuple(Exclusion(name, None, (_reason(ran),)) for name in names)
    kept = tuple(arm for arm in sifted.arms if arm not in idle)
    return replace(sifted, arms=kept, why=lambda: (*(one for one in sifted.exclusions if one.backend not in names), *added))


def _reason(ran: str) -> Reason:
    return Reason(
        rule="phase",
        asked=f"every step, verify steps among them, on the {ran} side",
        allowed="the other side alone",
        remedy="set engine.speculative.attention_mode to the other side",
        source="sglang/srt/layers/attention/hybrid_attn_backend.py, _select_backend",
    )

"""What busy neighbours did to a board, in words."""

from __future__ import annotations

from reports import numbers, wording
from store.boards.calibration import NeighbourEffect, Neighbours


def lines(found: Neighbours, floor: float) -> tuple[str, ...]:
    """``floor``: the noise floor of the board."""
    if not found.effects:
        return ("neighbours: nothing was measured both alone and beside them",)
    moved = max(found.effects, key=lambda effect: abs(effect.moved))
    wider = max(found.effects, key=lambda effect: effect.sigma_beside - effect.sigma_alone)
    verdict = "harmless: rounds are measured on all boards at once" if found.harmless(floor) else "not harmless: one board at a time"
    neighbours = wording.count(found.boards, "busy neighbour")
    alone, beside = map(numbers.percent, (wider.sigma_alone, wider.sigma_beside))
    return (
        f"{neighbours}, {found.processes} processes beside them: {verdict} (floor {numbers.percent(floor)})",
        f"  against the other arms {_place(moved)} moved most, by {numbers.percent(moved.moved)}; all arms together by "
        f"{numbers.percent(found.common)}, which cancels",
        f"  process-to-process noise grew most for {_place(wider)}, from {alone} to {beside}",
    )


def _place(effect: NeighbourEffect) -> str:
    return f"{effect.arm} on {effect.cell}"

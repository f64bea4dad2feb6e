"""What a simulated GPU's times come from: a model, or a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.cell import Cell


class Times(Protocol):
    """How long things take, in microseconds."""

    def call_us(self, arm: Arm, cell: Cell) -> float:
        """Of one call, without noise."""

    def served_us(self, arm: Arm, cell: Cell) -> float:
        """Of one eager call, host included."""

    def visit_us(self, arm: Arm, cell: Cell, samples: int, at_s: float) -> tuple[float, ...]:
        """One value a sample of a visit that begins ``at_s`` into the process."""

    def visit_served_us(self, arm: Arm, cell: Cell) -> float | None:
        """The same beside the samples of a visit; None where that is not known."""

    def metadata_us(self, arm: Arm, cell: Cell) -> tuple[float, float]:
        """Until the host returns, and until the device is idle again."""

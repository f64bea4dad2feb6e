"""When a difference between two versions counts, and how sure one must be of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tuner.arithmetic.looks import VERSIONS, looks_up_to

SIGMA_0 = 0.006  # process-level sd of a difference, until a board is calibrated
NOISY = 0.01  # from this sd on four rounds say too little
FLOOR = 0.001
ROUNDS = {"quick": 4, "gate": 9, "release": 14}  # at the most, by profile


@dataclass(frozen=True)
class Rule:
    """``margin`` is ln of the ratio below which a change is nobody's business. ``alpha``: chance that any cell of a family is called
    regressed, or improved, though its change is within the margin; ``equivalence_alpha``: that a cell is called equivalent though
    its change is not. ``first_change``: the look from which on a change may be claimed. ``floor``: no spread counts as less."""

    looks: tuple[int, ...]
    margin: float = math.log(1.02)
    alpha: float = 0.01
    equivalence_alpha: float = 0.05
    first_change: int = 6
    floor: float = FLOOR

    @property
    def change_looks(self) -> tuple[int, ...]:
        return tuple(look for look in self.looks if look >= self.first_change)

    @property
    def change_alpha(self) -> float:
        """What one look may spend on claims of change."""
        return self.alpha / max(1, len(self.change_looks))

    @property
    def equivalent_alpha(self) -> float:
        return self.equivalence_alpha / len(self.looks)


def rule_for(profile: str, sigma_0: float | None = None, two_mode: bool = True) -> Rule:
    """The rule of a profile, beside what calibration says of the cells: None = nothing yet.

    Four rounds of processes that may each start in one of two states are all in the same one too often to claim a change by
    them: until calibration has seen one state and little noise, a change takes six.
    """
    rule = Rule(looks_up_to(ROUNDS[profile], VERSIONS), floor=max(FLOOR, (SIGMA_0 if sigma_0 is None else sigma_0) / 4))
    calm = sigma_0 is not None and sigma_0 <= NOISY and not two_mode
    return replace(rule, first_change=rule.looks[0]) if calm else rule

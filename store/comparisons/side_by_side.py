"""Two environments measured in one sitting: one run a side, whose rounds were measured in pairs."""

from __future__ import annotations

from dataclasses import dataclass

from store.runs.run import Run

SIDES = ("baseline", "candidate")
SLOWED = "slowed:"  # how a candidate is written that is the baseline made slower


@dataclass(frozen=True)
class SideBySide:
    """``said`` = how either environment was named. The runs have the same arms and cells under the same names; rounds of one index
    are one pair, in whose processes blocks of one number lay around each other. ``status`` as of a run. ``together``: both processes of a
    pair stood on the device at once and took turns; else one came after the other."""

    id: str
    digest: str
    status: str
    created: str
    command: str
    said: tuple[str, str]
    baseline: Run
    candidate: Run
    together: bool = True

    @property
    def is_slowed(self) -> bool:
        """Whether the candidate's times are those of a slowdown of known size, and say nothing of what serves."""
        return self.said[1].startswith(SLOWED)

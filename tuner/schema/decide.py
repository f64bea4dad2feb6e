"""What a pin must gain, and how sure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tuner.schema import MISSING

Objective = Enum("Objective", ["throughput", "tpot", "ttft"])


@dataclass
class DecideNode:
    objective: Objective = Objective.throughput
    min_gain: float = MISSING
    max_cell_loss: float = MISSING
    tie_margin: float = MISSING
    confidence: float = MISSING
    sigma_floor: float = MISSING

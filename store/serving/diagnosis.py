"""What a look at a serving environment found: facts, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.condition import ServingCondition
from backends.environment import Environment


class Severity(str, Enum):
    FAULT = "fault"  # an arm fails, or what it measures is not what its name says
    WARNING = "warning"  # it runs, and what is measured here is open to doubt
    NOTE = "note"  # worth knowing, nothing to mend


@dataclass(frozen=True)
class Finding:
    """``what`` names the thing and its value, ``why`` what comes of it, ``remedy`` is an imperative clause. ``rule`` is a
    short name that stays; ``source`` is where the rule was read, None where it is plain arithmetic. ``concerns``: the distributions
    whose kernels it is about, () = all that runs there."""

    rule: str
    severity: Severity
    what: str
    why: str
    remedy: str
    source: str | None = None
    concerns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """``findings`` gravest first. ``in_use``: what others hold of the device, in NVML's words. ``exit_code`` is the command's."""

    environment: Environment
    condition: ServingCondition
    in_use: dict[str, int | None] | str | None
    findings: tuple[Finding, ...]
    exit_code: int

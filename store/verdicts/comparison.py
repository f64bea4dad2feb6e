"""A difference of two times as it was judged, with every number that the judgement stands on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Label(str, Enum):
    REGRESSED = "regressed"  # surely slower by more than the margin
    IMPROVED = "improved"  # surely faster by more than the margin
    EQUIVALENT = "equivalent"  # surely within the margin either way
    SUSPECT = "suspect"  # of a stored baseline alone: worth measuring side by side
    INCONCLUSIVE = "inconclusive"


class Why(str, Enum):
    """What keeps a comparison inconclusive."""

    OPEN = "open"  # more rounds are to come
    NOISE = "noise"  # its interval is too wide for the margin
    BORDERLINE = "borderline"  # its interval is narrow and lies across the margin
    TWO_MODE = "two-mode"  # the rounds fall into two groups
    UNSETTLED = "unsettled"  # clocks or temperature still moved
    ENV_SHIFT = "env-shift"  # what did not change moved too
    INCOMPARABLE = "incomparable"  # the two sides were not measured alike


@dataclass(frozen=True)
class Comparison:
    """``what`` was compared; ``estimate`` = ln(new/old) and its ``standard_error``, over ``rounds`` fresh processes (or pairs), with
    ``df`` degrees of freedom. ``alpha`` = error spent on this test at this look, of all that share it; ``threshold`` = standard errors
    that the estimate must be away from a bound at that error. ``margin`` = ln of the ratio below which a difference is nobody's
    business. ``minimum_detectable`` = the smallest true difference, a fraction, that would have been found in four of five such
    comparisons. ``low`` to ``high`` is the interval of ``confidence``, in ln."""

    what: str
    estimate: float
    standard_error: float
    df: float
    rounds: int
    alpha: float
    threshold: float
    margin: float
    minimum_detectable: float
    confidence: float
    low: float
    high: float


@dataclass(frozen=True)
class Explanation:
    """A ``question`` that a judgement came down to, and each comparison it was put to: its numbers, and what they say. ``notes`` are
    answers without a test."""

    question: str
    answers: tuple[tuple[Comparison, str], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellVerdict:
    """The label of one cell, or of the objective, given after ``numbers.rounds`` rounds and kept from then on."""

    label: Label
    why: Why | None
    numbers: Comparison

    def __post_init__(self) -> None:
        if (self.label is Label.INCONCLUSIVE) != (self.why is not None):
            raise ValueError(f"verdict {self.label.value!r} on {self.numbers.what} with the reason {self.why} contradicts itself")

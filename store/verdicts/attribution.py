"""What of all that differs between two environments made attention slower, or that none of it did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.verdicts.bisection import Standing
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import VersionVerdict

MOST = 0.5  # of a loss: what can explain less of it is not its cause


class Finding(str, Enum):
    CAUSE = "cause"  # moved alone, these make attention slower
    ONLY = "only difference"  # attention is slower, and nothing else differs
    NARROWED = "narrowed"  # those that could be told alone do not; of the others nobody can say
    TOGETHER = "together"  # none of them alone does
    NOT_ATTENTION = "not attention"  # a loss was seen of which attention cannot explain most
    OPEN = "open"  # attention itself is not to be told, so nothing is blamed
    NOTHING = "nothing"  # attention is not slower, and no loss was named


@dataclass(frozen=True)
class Alone:
    """``changes`` made to the baseline and nothing else; several where they cannot be had apart. ``standing``: whether attention
    was slower so where it is slower with everything moved; None = it was not tried. ``why``: it is neither good nor bad."""

    changes: tuple[Change, ...]
    standing: Standing | None = None
    why: str | None = None
    compared: str | None = None
    verdict: VersionVerdict | None = None


@dataclass(frozen=True)
class Attribution:
    """``alone`` in the order in which they are moved; ``causes`` of those, or, where it is narrowed, those that may be. ``fault``: arms
    and cells (None = all cells together) that are slower with everything moved. ``observed_loss``: of the user's own throughput, a
    fraction; ``most``: as much of a throughput as attention may cost if a step were nothing else, None = not to be told."""

    finding: Finding
    alone: tuple[Alone, ...]
    causes: tuple[Change, ...]
    fault: tuple[tuple[str, str | None], ...]
    comparisons: int
    observed_loss: float | None
    most: float | None
    exit_code: int

    def __post_init__(self) -> None:
        if bool(self.causes) != (self.finding in (Finding.CAUSE, Finding.ONLY, Finding.NARROWED)):
            raise ValueError(f"an attribution that found {self.finding.value!r} with {len(self.causes)} causes contradicts itself")
        if self.finding is Finding.NOT_ATTENTION and (self.observed_loss is None or self.most is None):
            raise ValueError("that a loss is not attention's needs the loss, and what attention may cost")

"""Which release of a distribution made attention slower: every release that was tried, and between which two it turned."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.verdicts.version_verdict import VersionVerdict


class Standing(str, Enum):
    """Of a release, held against the good one where the bad one is slower."""

    GOOD = "good"
    CURED = "cured"  # of the regression that was found; something smaller is left, or new
    BAD = "bad"
    OPEN = "inconclusive"
    SKIPPED = "skipped"  # it does not install, load or run


WELL = (Standing.GOOD, Standing.CURED)
TOLD = (*WELL, Standing.BAD)


@dataclass(frozen=True)
class Tried:
    """``compared`` = id of the comparison with the good release, None = there was none; ``why`` it is neither good nor bad; ``needs``:
    a sentence for each requirement that the good release had met there and this one has not."""

    release: str
    standing: Standing
    why: str | None = None
    compared: str | None = None
    verdict: VersionVerdict | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.why is None) != (self.standing in TOLD):
            raise ValueError(f"release {self.release} is {self.standing.value} with the reason {self.why}: a contradiction")
        if self.standing is not Standing.SKIPPED and self.verdict is None:
            raise ValueError(f"release {self.release} is {self.standing.value} without a comparison")


@dataclass(frozen=True)
class Turn:
    """``before`` is the last release known to be as all before it. The first that is otherwise is one of ``first``: the last of these
    is known to be, those before it could not be told."""

    before: str
    first: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return len(self.first) == 1


@dataclass(frozen=True)
class Bisection:
    """``tried`` in the order of asking, the bad release first. ``fault``: arms and cells (None = all cells together) on which that one
    is slower than the good one, or runs no more; () = it is not, or nobody can say. ``untold``: releases between that were not needed.
    ``about``: model, board and traffic in words; ``advice``: what is known of the first bad release and what to do, sentences."""

    distribution: str
    good: str
    bad: str
    until_good: str | None
    about: str
    cells: tuple[str, ...]
    fault: tuple[tuple[str, str | None], ...]
    tried: tuple[Tried, ...]
    untold: tuple[str, ...]
    first_bad: Turn | None
    good_again: Turn | None
    advice: tuple[str, ...]
    exit_code: int

    def __post_init__(self) -> None:
        if (self.first_bad is None) != (not self.fault):
            raise ValueError(f"a bisection with the fault {self.fault} and the first bad release {self.first_bad} contradicts itself")

    def of(self, release: str) -> Tried | None:
        return next((each for each in self.tried if each.release == release), None)

"""What a search among knobs had to choose from, what it tried, and what became of each. Values, no database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.arm import Arm
from backends.cell import Phase


class SearchKind(str, Enum):
    """EXHAUSTIVE tries every setting; OPTUNA those that its sampler asks for."""

    EXHAUSTIVE = "exhaustive"
    OPTUNA = "optuna"


@dataclass(frozen=True)
class Search:
    """How knobs are searched. ``knobs``: those alone (none: all that the drivers have). At most ``trials`` settings a phase are tried by
    `SearchKind.OPTUNA`, each in at most ``steps`` repetitions; one that is worse than the best so far with p below ``p_threshold`` is
    pruned. ``finalists`` of each phase go into the race."""

    kind: SearchKind
    trials: int
    steps: int
    finalists: int
    p_threshold: float
    knobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """One setting of the knobs of ``base`` (an arm's name) as an arm. ``chosen``: the knobs that are not left alone; they change calls of
    ``phases``."""

    base: str
    arm: Arm
    chosen: tuple[tuple[str, str], ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class Space:
    """``settings`` of all base arms, these themselves among them; ``unsearched``: sentences on knobs that are left alone, and why."""

    settings: tuple[Setting, ...] = ()
    unsearched: tuple[str, ...] = ()


class Fate(str, Enum):
    FINALIST = "finalist"
    FINISHED = "finished"  # all its repetitions, and others were better
    PRUNED = "pruned"
    FAILED = "failed"


@dataclass(frozen=True)
class Tried:
    """One setting (``arm`` by name) in one phase: ``ratio`` = its attention time by the default's, the mean of ``steps`` repetitions that
    took ``seconds``; None = it came to none. ``detail``: why it failed."""

    arm: str
    phase: Phase
    fate: Fate
    ratio: float | None
    steps: int
    seconds: float
    detail: str | None = None


@dataclass(frozen=True)
class Searched:
    """``settings`` there were to try; ``seconds`` all trying took."""

    search: Search
    settings: int
    seconds: float
    tried: tuple[Tried, ...]
    unsearched: tuple[str, ...] = ()

"""What an audit found: whether the reasons recorded for a default are still true here, and whether the default is still right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.cell import Phase
from store.decision import Interval, Pair
from store.engines.recorded_reason import ReasonHere


class ReasonVerdict(str, Enum):
    HOLDS = "holds"
    VOID = "no longer holds"
    UNTESTABLE = "cannot be tested here"
    INCONCLUSIVE = "inconclusive"


class DefaultVerdict(str, Enum):
    KEEP = "keep"
    SLOWER = "slower"  # something else is to be used
    INCONCLUSIVE = "inconclusive"
    UNTESTED = "not tested"


class Basis(str, Enum):
    """What a relation rests on, from the strongest to what is only told."""

    ROUNDS = "rounds"  # fresh processes, both in each
    PROBES = "probes"  # each alone in one process
    FIGURES = "figures"  # one figure each, as somebody reported them


@dataclass(frozen=True)
class Relation:
    """How ``against`` stands to ``chosen`` (backends) in ``phase``, None = a whole server. ``where``: the cell, or what the figures are of.
    Their values are in ``unit`` ("us", "ms", "tokens/s"). ``ratio`` = time of against / time of
    chosen, also where the unit is a rate; ``interval`` belongs to rounds alone."""

    phase: Phase | None
    where: str
    chosen: str
    against: str
    chosen_value: float
    against_value: float
    unit: str
    ratio: float
    interval: Interval | None
    basis: Basis

    def __post_init__(self) -> None:
        if (self.basis is Basis.ROUNDS) != (self.interval is not None):
            raise ValueError(f"a relation by {self.basis.value} {'needs an' if self.interval is None else 'has no'} interval")


@dataclass(frozen=True)
class ReasonFound:
    """``says`` what no relation does: why a reason cannot be tested, what is inconclusive, what the answers were."""

    rule: str
    here: ReasonHere
    verdict: ReasonVerdict
    relations: tuple[Relation, ...]
    says: str = ""

    def __post_init__(self) -> None:
        if not self.says and (self.verdict is ReasonVerdict.UNTESTABLE or not self.relations):
            raise ValueError(f"the reason of {self.rule}: {self.verdict.value}, and nothing says why")


@dataclass(frozen=True)
class DefaultFound:
    """Backends by the engine's names. ``use`` and ``flags`` where something else is to be used; ``because`` in a clause."""

    default: Pair
    verdict: DefaultVerdict
    because: str
    use: Pair | None = None
    flags: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if (self.verdict is DefaultVerdict.SLOWER) != (self.use is not None):
            raise ValueError(
                f"the verdict {self.verdict.value!r} on a default {'needs' if self.use is None else 'has no'} backends to use instead"
            )


@dataclass(frozen=True)
class Audit:
    """``on``: model, GPU and traffic. ``basis``: what was judged, in a clause ("run 2026..., 4 fresh processes"). ``engine_version`` None =
    the engine was not on the worker's path; ``rules_version`` says whose rules led to the default. Without ``reasons`` none was recorded
    on that path. ``command``: what was typed for it, or for the run that was judged; None = only figures were told."""

    on: str
    engine: str
    engine_version: str | None
    rules_version: str
    basis: str
    reasons: tuple[ReasonFound, ...]
    default: DefaultFound
    run: str | None
    exit_code: int
    command: str | None = None

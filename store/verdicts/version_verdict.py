"""What became of attention from one environment to another: a verdict an arm and cell, and everything it stands on."""

from __future__ import annotations

from dataclasses import dataclass

from backends.outcome import Outcome
from store.verdicts.comparison import CellVerdict, Label
from store.verdicts.verdict import Change, KnownIssue


@dataclass(frozen=True)
class Row:
    """One arm on one cell; ``cell`` None = all its cells together, by their share of the traffic (ms per 1000 output tokens, not us).
    Times are geometric means over rounds. ``control``: nothing that this arm runs on differs between the two sides."""

    arm: str
    cell: str | None
    old: float
    new: float
    verdict: CellVerdict
    control: bool = False


@dataclass(frozen=True)
class Dispatch:
    """What an arm's request became. ``before`` and ``after`` are inner paths ("fa2"); ``kernels``: which differ, in words, None = the
    launches are the same ones; ``code`` whether the machine code is known to be the same (None = the driver does not tell). ``twin``:
    another arm that asks for its path by another name and ran the very kernels of ``before`` on that cell, in the baseline."""

    arm: str
    cell: str
    before: str
    after: str
    kernels: str | None
    code: bool | None
    twin: str | None = None


@dataclass(frozen=True)
class Broken:
    """An arm that was measured before and is not any more."""

    arm: str
    cell: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class Beside:
    """Something beside the time of a call that moved: ``what`` ("first call"), in ``unit`` ("s", "us", "bytes", "")."""

    arm: str
    cell: str
    what: str
    before: float
    after: float
    unit: str


@dataclass(frozen=True)
class VersionVerdict:
    """``label`` sums up the rows that are no controls: the gravest of them. ``moved`` is what differs between the sides. ``shifted``:
    what did not change moved too, so nothing is concluded. ``notes``: what limits the verdict. ``rounds`` pairs of fresh processes.
    ``issues``: recorded faults that the candidate has, the baseline has not, and that are on the path of an arm that regressed.
    ``unlike``: arms that either side serves in another mode (graph replays, eager calls), which are not compared."""

    label: Label
    rows: tuple[Row, ...]
    dispatches: tuple[Dispatch, ...]
    broken: tuple[Broken, ...]
    beside: tuple[Beside, ...]
    moved: tuple[Change, ...]
    shifted: bool
    rounds: int
    notes: tuple[str, ...]
    exit_code: int
    issues: tuple[KnownIssue, ...] = ()
    unlike: tuple[str, ...] = ()

"""The finalists of a race once more, under conditions that it leaves out: does their order hold there?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.measured import CellRound


class Condition(str, Enum):
    """SANDWICH: the weights of a layer are read between two calls, as in a server. RANDOM_PAGES: the KV of a request lies in pages
    drawn from the whole pool, as after long service at the worst."""

    SANDWICH = "sandwich"
    RANDOM_PAGES = "random_pages"


@dataclass(frozen=True)
class Revisit:
    """One fresh process, ``index`` counted from 0. ``cell`` is one of the run's; ``under`` has it as it went under each condition,
    with a name of its own there. ``stream_bytes``: weights of a layer on one rank. ``failed``: the sentence why nothing came of it."""

    index: int
    seed: int
    cell: str
    stream_bytes: int
    under: tuple[tuple[Condition, CellRound], ...] = ()
    failed: str | None = None

    def __post_init__(self) -> None:
        if bool(self.under) == (self.failed is not None):
            raise ValueError(f"revisit {self.index} of {self.cell} has either times or the sentence why there are none")


@dataclass(frozen=True)
class Sensitivity:
    """How the finalists stood on ``cell`` under ``condition``. ``times``: (arm, us a call as usual, us under it), the one that would be
    served first, then the fastest under it. ``turned``: (arm, rival) of which the rival is ahead by more than the tie margin there and
    not as usual; None = the order holds. ``pick_changes``: that arm is the one that would be served."""

    condition: Condition
    cell: str
    processes: int
    stream_bytes: int
    times: tuple[tuple[str, float, float], ...]
    turned: tuple[str, str] | None
    pick_changes: bool

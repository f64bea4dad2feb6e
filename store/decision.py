"""What the measurements say: pick, tie set, effect on the step, and the numbers every sentence of a report draws from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.cell import Phase
from store.revisit import Sensitivity
from store.step_model import StepModel


@dataclass(frozen=True)
class Interval:
    """An estimate with a two-sided interval over ``processes`` fresh processes. Ratios are new/old: above 1 is slower."""

    estimate: float
    low: float
    high: float
    confidence: float
    processes: int


@dataclass(frozen=True)
class Pair:
    """One arm for prefill, one for decode (often the same backend); their names as `Arm.name` gives them."""

    prefill: str
    decode: str

    def of(self, phase: Phase) -> str:
        return self.decode if phase is Phase.DECODE else self.prefill


@dataclass(frozen=True)
class CellResult:
    """One arm on one cell over all processes: ``median_us`` a call, ``ratio`` against the default on that cell (None for
    the default itself, for arms whose mode differs from the default's, and below two processes); ``lone_ratio`` is that of the
    only process that timed both."""

    arm: str
    cell: str
    mode: str
    median_us: float
    ratio: Interval | None
    lone_ratio: float | None = None


@dataclass(frozen=True)
class PairScore:
    """``objective_ms`` = attention milliseconds per 1000 output tokens. ``ratio`` = against the default pair.
    ``step_gain_low/high`` = predicted gain of the scenario's objective as a fraction of the step (negative: a loss),
    over the interval of the ratio and the range of attention's share; None where there is no interval (one process, or a
    default that was not measured). ``worst_cell`` with its ``worst_cell_ratio``. ``dropped``: the sentence why it left the race
    before others did; its numbers are of the processes it was in."""

    pair: Pair
    objective_ms: float
    ratio: Interval | None
    step_gain_low: float | None
    step_gain_high: float | None
    worst_cell: str | None
    worst_cell_ratio: Interval | None
    barred: str | None  # the sentence why this pair may not be picked, None = it may
    dropped: str | None = None


@dataclass(frozen=True)
class Resampled:
    """The log drawn again ``times`` times, ``blocks`` of ``block_s`` seconds with replacement: new/old lay between ``low`` and ``high``
    in 95 % of the draws, and on the other side of 1 in ``turned`` (a fraction) of them."""

    times: int
    blocks: int
    block_s: float
    low: float
    high: float
    turned: float


@dataclass(frozen=True)
class Between:
    """How well the cells of one phase foretell one another: each arm's time on a cell from those on the others, log-log. ``typical`` and
    ``worst`` miss, as fractions, the latter on ``worst_cell``; of ``cells`` those that ``beyond`` names lie outside a factor of 2 of what
    the others span, where nothing is foretold."""

    arm: str
    phase: Phase
    cells: int
    typical: float
    worst: float
    worst_cell: str
    beyond: tuple[str, ...]


@dataclass(frozen=True)
class Robustness:
    """``new`` against ``old`` on the cells where they differ, as ratios new/old of attention time. Whatever the weights of the cells,
    it lies between ``low`` (all of it on ``low_cell``) and ``high``. ``turning``: the cells on which the one that is behind over all is
    ahead, now with ``share`` of the old one's attention time; at ``flip_share`` both take the same (None = no weights of these cells
    turn the order)."""

    new: Pair
    old: Pair
    ratio: float
    low: float
    low_cell: str
    high: float
    high_cell: str
    turning: tuple[str, ...]
    share: float
    flip_share: float | None
    resampled: Resampled | None
    between: tuple[Between, ...]


@dataclass(frozen=True)
class Split:
    """``pair``, the fastest with a backend for each phase, beside ``single``, the fastest with one for both, at one page size and KV dtype
    each; of either kind one that may be picked, where there is such: ``ratio`` = pair / single of attention time, and the step's predicted
    gain by splitting, as a fraction (None below two processes that timed both)."""

    pair: Pair
    single: Pair
    ratio: Interval | None
    step_gain_low: float | None
    step_gain_high: float | None


@dataclass(frozen=True)
class OnBoard:
    """new/old as an estimate over ``processes`` fresh ones on the ``board`` with this UUID (None = it told none)."""

    board: str | None
    processes: int
    ratio: float


@dataclass(frozen=True)
class BoardSpread:
    """How ``new`` stood against ``old`` on each of several boards of one type, and what ln(new/old) varies by: standard deviations
    between boards, between processes of one board (None = each had one, whose scatter the first holds), and of one process by its
    blocks. ``decides``: the board that a server of several ranks waits for, by the new one's time there; None = the mean of all decided."""

    new: Pair
    old: Pair
    boards: tuple[OnBoard, ...]
    between_boards: float
    between_processes: float | None
    in_a_process: float
    decides: str | None = None


class Ruling(str, Enum):
    SWITCH = "switch"  # pin something else than the default
    KEEP = "keep default"  # measured, and the default stays: nothing is pinned
    INCOMPLETE = "incomplete"  # the default was not measured: no pin


@dataclass(frozen=True)
class Decision:
    """``because`` maps a flag to its one-line reason (at most 160 characters); ``unset_because`` says why nothing is
    pinned. ``minimum_detectable_effect`` is a fraction of attention time (None below 2 processes). ``best_set``: the pairs of which
    none is surely slower than another that may be picked. ``chosen_at``: the pick's ratio in the processes it was chosen by, where
    its score is of fresh ones; None = its score is of those it was chosen by. ``robustness``: of the pick, or of the best rival in
    each phase; none in an early decision. ``variables`` of the server's environment stand beside the flags, and have reasons in ``because``
    like them. ``split``: what a backend for each phase buys; None = none of either kind was compared. ``spread``: over the boards that the
    race was measured on; None = on one, or nothing was compared."""

    ruling: Ruling
    default: Pair | None
    default_because: str
    pick: Pair | None
    tie_set: tuple[Pair, ...]
    flags: tuple[tuple[str, str], ...]
    because: tuple[tuple[str, str], ...]
    unset_because: str | None
    scores: tuple[PairScore, ...]
    cells: tuple[CellResult, ...]
    steps: tuple[StepModel, ...]
    minimum_detectable_effect: float | None
    cautions: tuple[str, ...]
    best_set: tuple[Pair, ...] = ()
    chosen_at: Interval | None = None
    sensitivity: tuple[Sensitivity, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    split: Split | None = None
    spread: BoardSpread | None = None

"""How one pair stands against the default: attention time, predicted gain of a step, worst cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from store.decision import Interval, Pair
from store.scenario import WeightedCell
from tuner.arithmetic.objective import Exposure, Process, attention_ms
from tuner.arithmetic.statistics import interval, is_within, minimum_detectable
from tuner.deciding.contest import Contest
from tuner.deciding.slowest import InProcess, sample, slowest_ratio
from tuner.deciding.table import Table
from tuner.step_model.step import share


def objective_ms(contest: Contest, pair: Pair, cells: Iterable[WeightedCell] | None = None, exposure: Exposure = Exposure.HIDDEN) -> float:
    """Attention ms per 1000 output tokens: the geometric mean over the processes that timed the pair; on the slowest board where the
    server waits for it."""
    counted = contest.cells if cells is None else tuple(cells)
    processes = contest.table.shared([pair], counted)
    return math.exp(served_ln(contest, [(each.board, math.log(attention_ms(each, pair, counted, exposure))) for each in processes]))


def served_ln(contest: Contest, found: Sequence[tuple[str | None, float]]) -> float:
    """The mean of (board, ln time) of each process; that of the slowest board where the server waits for it."""
    boards: dict[str | None, list[float]] = {}
    for board, value in found:
        boards.setdefault(board if contest.waits else None, []).append(value)
    return max(map(fmean, boards.values()))


def differences(
    contest: Contest, new: Pair, old: Pair, cells: Iterable[WeightedCell] | None = None, exposure: Exposure = Exposure.HIDDEN
) -> list[float]:
    """ln(new/old) of the objective, or of ``cells`` of it, in each process that timed both."""
    return [each.difference for each in in_processes(contest.table, new, old, contest.cells if cells is None else tuple(cells), exposure)]


def in_processes(
    table: Table, new: Pair, old: Pair, counted: tuple[WeightedCell, ...], exposure: Exposure = Exposure.HIDDEN
) -> list[InProcess]:
    """The same process by process, with the board of each."""
    return [
        _compared(process, attention_ms(process, new, counted, exposure), attention_ms(process, old, counted, exposure))
        for process in table.shared([new, old], counted)
    ]


def _compared(process: Process, new_ms: float, old_ms: float) -> InProcess:
    return InProcess(process.board, math.log(new_ms / old_ms), math.log(new_ms))


def ratio(
    contest: Contest, new: Pair, old: Pair, cells: Iterable[WeightedCell] | None = None, exposure: Exposure = Exposure.HIDDEN
) -> Interval | None:
    """new/old at the confidence that all rivals share."""
    counted = contest.cells if cells is None else tuple(cells)
    return _judged(contest, lambda table: in_processes(table, new, old, counted, exposure), contest.confidence)


def tied_at(contest: Contest, one: Pair, other: Pair, confidence: float) -> bool:
    """`tuner.arithmetic.statistics.tied` of the objective, within ``decide.tie_margin``."""
    found = _judged(contest, lambda table: in_processes(table, one, other, contest.cells), 2 * confidence - 1)
    return is_within(found, contest.rules.tie_margin)


def _judged(contest: Contest, found: Callable[[Table], list[InProcess]], confidence: float) -> Interval | None:
    here, earlier = found(contest.table), found(contest.earlier) if contest.earlier else []
    floor = contest.rules.sigma_floor
    if contest.waits:
        return slowest_ratio(here, earlier, confidence, floor)
    return interval([each.difference for each in here], confidence, floor, [each.difference for each in earlier])


def least_detectable(contest: Contest, new: Pair, old: Pair) -> float | None:
    """The smallest difference of the two, as a fraction, that these processes would find."""
    found = in_processes(contest.table, new, old, contest.cells)
    differences, *also = sample(found) if contest.waits else ([each.difference for each in found],)
    return minimum_detectable(differences, contest.confidence, contest.rules.sigma_floor, *also)


def step_gain(contest: Contest, pair: Pair) -> tuple[float, float] | None:
    """Predicted gain of the objective as a fraction of the step: share x (1 - ratio) (Amdahl), lowest and highest.

    The hull over both ends of the ratio's interval, of attention's share, and of metadata hidden or exposed. None without
    a default or an interval.
    """
    return None if contest.default is None else step_gain_over(contest, pair, contest.default)


def step_gain_over(contest: Contest, pair: Pair, base: Pair) -> tuple[float, float] | None:
    """The same against any other pair."""
    hulls = [_gains(contest, pair, base, exposure) for exposure in Exposure]
    gains = [gain for hull in hulls for gain in hull]
    return (min(gains), max(gains)) if all(hulls) else None


def _gains(contest: Contest, pair: Pair, default: Pair, exposure: Exposure) -> list[float]:
    found = ratio(contest, pair, default, exposure=exposure)
    shares = share(objective_ms(contest, default, exposure=exposure), contest.rest)
    return [part * (1 - end) for part in shares for end in (found.low, found.high)] if found else []


def cell_ratio(contest: Contest, new: str, old: str, cell: str) -> Interval | None:
    """new/old on one cell at ``decide.confidence``; None where it is one arm, another mode, or fewer than two processes."""
    table = contest.table
    if new == old or table.mode(new, cell) != table.mode(old, cell):
        return None
    return _judged(contest, lambda table: _on_a_cell(table, new, old, cell), contest.look_confidence)


def cell_differences(table: Table, new: str, old: str, cell: str) -> list[float]:
    """ln(new/old) of two arms on one cell, in each process that timed both."""
    return [each.difference for each in _on_a_cell(table, new, old, cell)]


def _on_a_cell(table: Table, new: str, old: str, cell: str) -> list[InProcess]:
    logs = [(process.board, process.ln_us.get((new, cell)), process.ln_us.get((old, cell))) for process in table.processes]
    return [InProcess(board, one - two, one) for board, one, two in logs if one is not None and two is not None]


def worst_cell(contest: Contest, pair: Pair, cells: Iterable[WeightedCell]) -> tuple[str, Interval] | None:
    """The cell with the highest ratio against the default, among ``cells``."""
    if contest.default is None:
        return None
    found = [(weighted.cell.name, _ratio_on(contest, pair, contest.default, weighted)) for weighted in cells]
    known = [(name, value) for name, value in found if value is not None]
    return max(known, key=lambda item: item[1].estimate, default=None)


def _ratio_on(contest: Contest, pair: Pair, default: Pair, weighted: WeightedCell) -> Interval | None:
    phase = weighted.cell.phase
    return cell_ratio(contest, pair.of(phase), default.of(phase), weighted.cell.name)

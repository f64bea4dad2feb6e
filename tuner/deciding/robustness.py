"""How much of a decision hangs on the traffic. Pure; random draws are seeded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

import numpy as np

from backends.cell import Cell, Phase
from store.decision import Between, Pair, PairScore, Resampled, Robustness
from store.recorded_traffic import RecordedTraffic
from store.scenario import WeightedCell
from tuner.arithmetic.between import left_out
from tuner.arithmetic.objective import step_ms
from tuner.deciding.contest import Contest
from tuner.deciding.results import median_us
from tuner.traffic.loads import block_steps, named_steps

TIMES = 200  # draws of the log
FEWEST_CELLS = 3  # from which the others foretell one
SEED = 0

Ms = Mapping[str, float]  # of one step's attention, by cell


def robustness(
    contest: Contest, pick: Pair | None, scores: Sequence[PairScore], recorded: RecordedTraffic | None
) -> tuple[Robustness, ...]:
    """Of the pick against the default; where the default stays, of its best rival in each phase, or of the best that there is."""
    default = contest.default
    if default is None:
        return ()
    news = [pick] if pick not in (None, default) else _rivals(default, scores)
    found = (_against(contest, new, default, recorded) for new in news if new is not None)
    return tuple(each for each in found if each is not None)


def _rivals(default: Pair, scores: Sequence[PairScore]) -> list[Pair]:
    """Those that may be picked and stayed in the race first."""
    order = sorted(scores, key=lambda score: (score.barred is not None, score.dropped is not None, score.objective_ms))
    pairs = [score.pair for score in order if score.pair != default and (score.ratio is not None or score.dropped is not None)]
    decode = [pair for pair in pairs if pair.prefill == default.prefill or pair.prefill == pair.decode == default.decode]
    prefill = [pair for pair in pairs if pair.decode == default.decode]
    return list(dict.fromkeys([*decode[:1], *prefill[:1]] or pairs[:1]))


def _against(contest: Contest, new: Pair, old: Pair, recorded: RecordedTraffic | None) -> Robustness | None:
    """None where no process timed both on every cell on which they differ."""
    cells = tuple(weighted for weighted in contest.cells if new.of(weighted.cell.phase) != old.of(weighted.cell.phase))
    if not cells or not contest.table.shared([new, old], cells):
        return None
    news, olds = (_step_ms(contest, cells, pair, new, old) for pair in (new, old))
    ratios = {name: news[name] / olds[name] for name in olds}
    counts = {weighted.cell.name: weighted.calls_per_1000_tokens for weighted in cells}
    ratio = _over_all(counts, news) / _over_all(counts, olds)
    low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    turning = tuple(name for name in ratios if (ratios[name] > 1) != (ratio > 1) and ratios[name] != 1)
    share, flip_share = _flip(counts, news, olds, turning)
    resampled = None if recorded is None else _resampled(recorded, cells, news, olds, ratio)
    between = tuple(_between(contest, cells, (old, new)))
    return Robustness(new, old, ratio, ratios[low], low, ratios[high], high, turning, share, flip_share, resampled, between)


def _step_ms(contest: Contest, cells: tuple[WeightedCell, ...], pair: Pair, *both: Pair) -> Ms:
    """Geometric means over the processes that timed ``both``."""
    processes = contest.table.shared(both, cells)
    return {one.cell.name: math.exp(fmean(math.log(step_ms(process, pair, one)) for process in processes)) for one in cells}


def _over_all(counts: Ms, ms: Ms) -> float:
    return sum(count * ms[name] for name, count in counts.items())


def _flip(counts: Ms, news: Ms, olds: Ms, turning: tuple[str, ...]) -> tuple[float, float | None]:
    """The share of the old one's attention time in the cells that turn the order, now and where they do: their steps are then so many
    more that what is won there is what is lost elsewhere."""
    if not turning:
        return 0.0, None
    there = {name: counts[name] for name in turning}
    elsewhere = {name: count for name, count in counts.items() if name not in there}
    gain, loss = (abs(_over_all(part, news) - _over_all(part, olds)) for part in (there, elsewhere))
    mine, others = _over_all(there, olds), _over_all(elsewhere, olds)
    more = loss / gain * mine
    return mine / (mine + others), more / (more + others)


def _resampled(recorded: RecordedTraffic, cells: tuple[WeightedCell, ...], news: Ms, olds: Ms, ratio: float) -> Resampled | None:
    blocks = len(recorded.block_tokens)
    if blocks < 2:
        return None
    names = [_load_name(weighted.cell, named_steps(recorded)) for weighted in cells]
    steps = block_steps(recorded, names)
    counts = np.array([steps[name] for name in names])
    drawn = np.random.default_rng(SEED).integers(blocks, size=(TIMES, blocks))
    sums = counts[:, drawn].sum(axis=2)  # cells x draws; output tokens divide both sides alike
    new, old = (np.array([ms[weighted.cell.name] for weighted in cells]) @ sums for ms in (news, olds))
    found = new[old > 0] / old[old > 0]
    low, high = np.percentile(found, (2.5, 97.5))
    return Resampled(TIMES, blocks, recorded.block_s, float(low), float(high), float(((found > 1) != (ratio > 1)).mean()))


def _load_name(cell: Cell, names: Mapping[str, object]) -> str:
    """Without the layer kind that a cell of several is named after."""
    return cell.name if cell.name in names else cell.name.removesuffix(f"-{cell.layer.name}")


def _between(contest: Contest, counted: tuple[WeightedCell, ...], pairs: tuple[Pair, Pair]) -> Iterator[Between]:
    for phase in Phase:
        cells = [weighted.cell for weighted in counted if weighted.cell.phase is phase]
        for arm in dict.fromkeys(pair.of(phase) for pair in pairs):
            yield from _foretelling(contest, arm, phase, cells)


def _foretelling(contest: Contest, arm: str, phase: Phase, cells: list[Cell]) -> Iterator[Between]:
    """Nothing where the cells of a layer kind are too few to foretell one another."""
    kinds = dict.fromkeys(cell.layer.name for cell in cells)
    misses: dict[Cell, float | None] = {}
    for kind in kinds:
        misses |= left_out({cell: math.log(median_us(contest, arm, cell.name)) for cell in cells if cell.layer.name == kind})
    known = {cell.name: abs(math.expm1(miss)) for cell, miss in misses.items() if miss is not None}
    if known and len(cells) >= FEWEST_CELLS * len(kinds):
        worst = max(known, key=known.__getitem__)
        beyond = tuple(cell.name for cell, miss in misses.items() if miss is None)
        yield Between(arm, phase, len(cells), median(known.values()), known[worst], worst, beyond)

"""Causes in the times of now alone: of arms on one case, of one arm with and without a graph; and how much of the GPU is at work. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from backends.timing.ways import PENALISED
from reports import wording
from store.serving.triaged import Cause, Ground, Kind, Proof
from tuner.triaging.cause import cause
from tuner.triaging.figure_words import words
from tuner.triaging.figures import ATTENTION, Figure
from tuner.triaging.signs import Signs
from tuner.triaging.stated import EAGER, LONG

FEW = 0.5  # of the GPU's processors
CHOSEN = (None, "auto")  # arms that serve where none is named


def causes(signs: Signs) -> Iterator[Cause]:
    rows = [each for each in signs.stated if each.component == ATTENTION]
    for each in rows:
        yield from _penalised(each, rows)
        yield from _overtaken(signs, each, rows)
        yield from _few_blocks(signs, each)


def _penalised(each: Figure, rows: list[Figure]) -> Iterator[Cause]:
    same = [other for other in _cases(each, rows) if other.graph == EAGER and (other.backend, other.arm) == (each.backend, each.arm)]
    if same and each.graph not in (None, EAGER) and (ratio := _over(each, same[0])) > PENALISED:
        sentence = f"{words(each)}, which is {ratio:.2f} times its time without a graph"
        yield cause(Kind.GRAPH_PENALTY, Ground.MEASURED, sentence, (), ["compare the launch grids of both, and serve it without a graph"])


def _overtaken(signs: Signs, each: Figure, rows: list[Figure]) -> Iterator[Cause]:
    others = [other for other in _cases(each, rows) if other.graph == each.graph and (other.backend, other.arm) != (each.backend, each.arm)]
    best = max(others, key=lambda other: _over(each, other), default=None)
    if best and each.backend in signs.served and each.arm in CHOSEN and _over(each, best) > math.exp(2 * each.noise):
        sentence = f"{words(best)} is faster than what serves, {words(each)}"
        yield cause(Kind.OVERTAKEN, Ground.MEASURED, sentence, (), [f"measure and pin anew: {signs.check} --write"])


def _cases(each: Figure, rows: list[Figure]) -> list[Figure]:
    return [other for other in rows if other.now and each.now and other.case == each.case and other is not each]


def _over(one: Figure, other: Figure) -> float:
    """How many times as long ``one`` takes now."""
    ratio = (one.now or math.nan) / (other.now or math.nan)
    return 1 / ratio if one.rate else ratio


def _few_blocks(signs: Signs, each: Figure) -> Iterator[Cause]:
    processors, grid, share = signs.run.scenario.gpu.sm_count, each.detail("grid"), each.detail("attention_share_pct")
    if isinstance(grid, int) and processors and grid < FEW * processors:
        part = f", and attention takes {share} % of the GPU's time" if share is not None else ""
        sentence = f"attention launches {wording.count(grid, 'block')} on {processors} processors{part}"
        ways = [f"let it split contexts (more KV splits), or find a backend that does: {signs.tune(LONG)}"]
        yield cause(Kind.FEW_BLOCKS, Ground.MEASURED, sentence, [Proof(words(each))], ways)

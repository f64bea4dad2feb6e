"""What a pin's own times of attention say of the ITL that a serving run measures, side by side at each concurrency. Pure.

A step at a concurrency is taken to decode so many requests at once, each half through its output. Where the pin's run measured such
a batch, those are its times; elsewhere they are interpolated between its served cells (`tuner.arithmetic.between`), which says nothing
far from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from backends.arm import Arm
from backends.cell import Cell
from backends.model import LayerKind
from store.runs.run import Run
from store.scenario import WeightedCell
from store.serving.serving_run import Predicted, Sent, ServingRun
from store.serving.verified import DECODE, KV_DTYPE, PAGE_SIZE
from tuner.arithmetic.between import foretold

NEAR = 0.1  # of the mean context, within which a measured cell of the same batch is the step itself
MS_PER_US = 1 / 1000
ARMS_OWN = ("attention-backend", "page-size", "kv-cache-dtype")  # the options whose whole effect on attention an arm's name says

Times = Mapping[str, Mapping[Cell, float]]  # us of one call in one layer, by arm


def predicted(run: Run, found: ServingRun) -> tuple[Predicted, ...]:
    """One of each concurrency; what is not known says why."""
    decoding = [each for each in run.cells if each.cell.generates and not each.is_guard]
    times = _times(run, decoding)
    arms = [_arm(run, found, pinned, times) for pinned in (True, False)]
    sides = [times[arm.name] for arm in arms if arm is not None]
    why = _unknown(found, decoding, arms)
    if why:
        return tuple(Predicted(each, None, None, missing=why) for each in found.sent.concurrency)
    return tuple(_at(each, found.sent, decoding, sides) for each in found.sent.concurrency)


def _times(run: Run, decoding: Sequence[WeightedCell]) -> dict[str, dict[Cell, float]]:
    cells, found = {each.cell.name: each.cell for each in decoding}, dict[str, dict[Cell, float]]()
    for result in run.decision.cells if run.decision else ():
        if result.cell in cells:
            found.setdefault(result.arm, {})[cells[result.cell]] = result.median_us
    return found


def _unknown(found: ServingRun, decoding: Iterable[WeightedCell], arms: Iterable[Arm | None]) -> str:
    """Why nothing can be said at any concurrency, or ""."""
    if any(each.cell.verifies for each in decoding):
        return "the pin's steps verify drafts, so that one brings more than a token"
    for pinned, arm in zip((True, False), arms):  # nor is there any where no step that generates was timed
        if arm is None:
            backend = _served(found, pinned).get(DECODE, "what the server decodes with")
            return f"the pin's run did not time {backend} as it is served {'with' if pinned else 'without'} the pin"
    return ""


def _arm(run: Run, found: ServingRun, pinned: bool, times: Times) -> Arm | None:
    """The one that a side decodes with, of those that were timed."""
    if not pinned and not all(_arms_own(word) for word in found.against if word.startswith("-")):
        return None
    pick = run.decision and (run.decision.pick or run.decision.default)
    fitting = [arm for arm in run.arms if arm.is_original and arm.name in times and _serves(arm, _served(found, pinned))]
    picked = [arm for arm in fitting if pinned and pick and arm.name == pick.decode]
    return next(iter([*picked, *(arm for arm in fitting if not arm.knobs)]), None)


def _arms_own(option: str) -> bool:
    return option.lstrip("-").partition("=")[0].replace("_", "-").endswith(ARMS_OWN)


def _served(found: ServingRun, pinned: bool) -> dict[str, str]:
    return next((dict(start.serves) for start in found.side(pinned) if start.serves), {})


def _serves(arm: Arm, served: Mapping[str, str]) -> bool:
    """Page size and KV dtype count where the server says them."""
    own = {PAGE_SIZE: str(arm.page_size), KV_DTYPE: arm.kv_dtype}
    return served.get(DECODE) == arm.backend and all(served.get(what, value) == value for what, value in own.items())


def _at(concurrency: int, sent: Sent, decoding: Sequence[WeightedCell], sides: Sequence[Mapping[Cell, float]]) -> Predicted:
    """The sum over the layer kinds of what one call takes in each; of both sides the same cells."""
    context = sent.prompt_tokens + sent.output_tokens // 2
    sums, used = [0.0, 0.0], dict[str, None]()
    for layers, cells in _kinds(decoding, sides):
        if not cells:
            return Predicted(concurrency, None, None, missing="the pin's run did not time both on one decode step")
        step = _step(cells[0], concurrency, context)
        same = _same(cells, step)
        calls = [side[same] if same else _foretold_us(cells, side, step) for side in sides]
        if None in calls:
            return Predicted(concurrency, None, None, missing=_beyond(context, cells))
        sums = [total + layers * us * MS_PER_US for total, us in zip(sums, calls) if us is not None]
        used |= dict.fromkeys(cell.name for cell in ([same] if same else cells))
    return Predicted(concurrency, sums[0], sums[1], tuple(used))


def _kinds(decoding: Iterable[WeightedCell], sides: Sequence[Mapping[Cell, float]]) -> list[tuple[int, list[Cell]]]:
    """How many layers there are of each kind, and its cells that both sides were timed on."""
    kinds: dict[LayerKind, tuple[int, list[Cell]]] = {each.cell.layer: (each.layers, []) for each in decoding}
    for each in decoding:
        if all(each.cell in side for side in sides):
            kinds[each.cell.layer][1].append(each.cell)
    return list(kinds.values())


def _step(like: Cell, batch: int, context: int) -> Cell:
    each = (context,) * batch
    return replace(like, name=f"decode-{batch}", context_lens=each, new_lens=(1,) * batch, prompt_lens=each, padded_batch=batch)


def _same(cells: Iterable[Cell], step: Cell) -> Cell | None:
    """The measured cell that is the step itself."""
    near = (cell for cell in cells if cell.batch == step.batch and abs(math.log(_context(cell) / _context(step))) < NEAR)
    return next(near, None)


def _foretold_us(cells: Iterable[Cell], us: Mapping[Cell, float], step: Cell) -> float | None:
    ln_us = foretold({cell: math.log(us[cell]) for cell in cells}, step)
    return None if ln_us is None else math.exp(ln_us)


def _beyond(context: int, cells: Iterable[Cell]) -> str:
    measured = ", ".join(f"{cell.batch} of {round(_context(cell))}" for cell in cells)
    return f"so many requests of {context} tokens lie beyond a factor of 2 of the decode steps that the pin's run timed ({measured})"


def _context(cell: Cell) -> float:
    return sum(cell.context_lens) / cell.batch

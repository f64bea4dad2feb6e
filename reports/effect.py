"""What a pick means for a server: the predicted change of TPOT and TTFT, as a range. Nothing here is measured on a server."""

from __future__ import annotations

from dataclasses import dataclass

from backends.cell import Phase
from reports import numbers
from store.decision import Decision, Interval, Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from store.step_model import StepModel

Counted = tuple[float, StepModel, Interval]  # calls per 1000 tokens, the step, the pick's ratio on its cell
METRICS = {Phase.DECODE: "TPOT", Phase.PREFILL: "TTFT"}


@dataclass(frozen=True)
class Effect:
    """``low`` and ``high`` are changes of the step's time (negative = faster) over the intervals of the kernels' ratios
    and the range of the rest of the step. ``phase``: decode stands for all steps that generate, also where they verify drafts."""

    phase: Phase
    low: float
    high: float


def of_pair(run: Run, decision: Decision, pair: Pair) -> tuple[Effect, ...]:
    """The effect of ``pair`` on each metric of which every counted cell has a step model and a ratio; the others are left out."""
    effects = (_on_metric(run, decision, pair, phase) for phase in METRICS)
    return tuple(effect for effect in effects if effect is not None)


def text(effects: tuple[Effect, ...]) -> str:
    """ "TPOT 1.6 % to 2.4 % faster, TTFT unchanged"."""
    return ", ".join(f"{METRICS[effect.phase]} {numbers.change_range(effect.low, effect.high)}" for effect in effects)


def counted_in(run: Run, phase: Phase) -> tuple[WeightedCell, ...]:
    """The cells whose steps ``METRICS[phase]`` counts."""
    return tuple(one for one in run.cells if one.cell.generates is (phase is Phase.DECODE) and not one.is_guard)


def side_of(cells: tuple[WeightedCell, ...], phase: Phase) -> Phase:
    """Whose backend serves the steps: verify steps may be the prefill side's."""
    return cells[0].cell.phase if cells else phase


def _on_metric(run: Run, decision: Decision, pair: Pair, phase: Phase) -> Effect | None:
    if decision.default is None:
        return None
    of_metric = counted_in(run, phase)
    side = side_of(of_metric, phase)
    if pair.of(side) == decision.default.of(side):
        return Effect(phase, 0.0, 0.0)
    steps, known = models(decision), ratios(decision, pair.of(side))
    cells = [(one.cell.name, one.calls_per_1000_tokens) for one in of_metric]
    if not cells or any(name not in steps or name not in known for name, _ in cells):
        return None
    counted = [(weight, steps[name], known[name]) for name, weight in cells]
    corners = [change for edge in ("low", "high") for change in _changes(counted, edge)]
    return Effect(phase, min(corners), max(corners))


def models(decision: Decision) -> dict[str, StepModel]:
    return {step.cell: step for step in decision.steps}


def ratios(decision: Decision, arm: str) -> dict[str, Interval]:
    return {result.cell: result.ratio for result in decision.cells if result.arm == arm and result.ratio is not None}


def _changes(counted: list[Counted], edge: str) -> tuple[float, float]:
    """Change of the summed step time at one edge of the ratios, for the shortest and the longest rest of the step:
    sum w a (r - 1) / sum w (a + rest). An unbounded rest leaves no change."""
    gained = sum(weight * step.attention_ms * (getattr(ratio, edge) - 1) for weight, step, ratio in counted)
    shortest = sum(weight * (step.attention_ms + step.rest_ms_low) for weight, step, _ in counted)
    rests = [step.rest_ms_high for _, step, _ in counted if step.rest_ms_high is not None]
    if len(rests) < len(counted):
        return gained / shortest, 0.0
    longest = sum(weight * (step.attention_ms + rest) for (weight, step, _), rest in zip(counted, rests))
    return gained / shortest, gained / longest

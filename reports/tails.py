"""What a pair means for TPOT and TTFT at the median and at the 99th percentile, predicted from steps. Nothing here is measured on a server.

Between two tokens of a request lie one decode step and whatever prefill steps the server put before it: as many as the cells count, each
as likely before any decode step. So TPOT here is the time between two tokens, each token counting once. TTFT is the step that a prompt's
tokens are computed in, each of them counting once; waiting for one's turn is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from backends.cell import Phase
from reports import effect, numbers, wording
from reports.page import Section, Table
from store.decision import Decision, Interval, Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from store.step_model import StepModel

PERCENTILES = (0.5, 0.99)
EDGES = ("low", "high")
TPOT, TTFT = "TPOT", "TTFT"
MEANT = {TPOT: "the time between two tokens of a request", TTFT: "the step that a prompt's tokens are computed in, waiting left out"}
BETWEEN = ", prefill steps in between included"
HEADER = ("metric", "at", "with the default", "change")
Distribution = Iterable[tuple[float, float]]  # ms, weight


@dataclass(frozen=True)
class Tail:
    """``metric`` at ``percentile``: ms with the default, and the change with the other pair (negative = faster), as ranges over the rest
    of a step and the intervals of the kernels' ratios."""

    metric: str
    percentile: float
    default_ms: tuple[float, float]
    change: tuple[float, float]


@dataclass(frozen=True)
class _Step:
    """``parts``: attention and the rest of each layer kind, with the other pair's ratio (None = the same arm)."""

    calls: float
    token_share: float
    parts: tuple[tuple[StepModel, Interval | None], ...]

    def ms(self, rest: str, ratio: str | None) -> float:
        return sum(_part_ms(model, its, rest, ratio) for model, its in self.parts)


def section(run: Run, decision: Decision, compared: Pair | None) -> Section | None:
    """``compared``: the pair that is held against the default."""
    found = tails(run, decision, compared) if compared else ()
    if compared is None or not found:
        return None
    metrics = tuple(dict.fromkeys(tail.metric for tail in found))
    note = f"Predicted, with {wording.pair(compared)} instead of the default. {_meant(metrics)}."
    return Section(f"{' and '.join(metrics)}, median and 99th percentile", (note, Table(HEADER, tuple(map(_row, found)))))


def _meant(metrics: tuple[str, ...]) -> str:
    """A server of one phase knows nothing of the other."""
    between = BETWEEN if len(metrics) > 1 else ""
    return "; ".join(f"{metric}: {MEANT[metric]}{between if metric == TPOT else ''}" for metric in metrics)


def tails(run: Run, decision: Decision, compared: Pair) -> tuple[Tail, ...]:
    """Of the metrics whose steps all have a ratio and a model with two ends."""
    decode, prefill = (_steps(run, decision, compared, phase) for phase in (Phase.DECODE, Phase.PREFILL))
    found: list[Tail] = []
    if decode and prefill is not None:
        found += [_tail(TPOT, at, lambda rest, ratio: _gaps(decode, prefill, rest, ratio)) for at in PERCENTILES]
    if prefill:
        found += [_tail(TTFT, at, lambda rest, ratio: _prefills(prefill, rest, ratio)) for at in PERCENTILES]
    return tuple(found)


def percentile(weighed: Distribution, at: float) -> float:
    """The least value that at most a share of 1 - ``at`` of the weight exceeds."""
    ordered = sorted(weighed)
    wanted, seen = at * math.fsum(weight for _, weight in ordered), 0.0
    for value, weight in ordered:
        seen += weight
        if seen >= wanted * (1 - 1e-9):
            return value
    return ordered[-1][0]


def _tail(metric: str, at: float, weighed: Callable[[str, str | None], Distribution]) -> Tail:
    now = {rest: percentile(weighed(rest, None), at) for rest in EDGES}
    changes = [percentile(weighed(rest, ratio), at) / now[rest] - 1 for rest, ratio in product(EDGES, EDGES)]
    return Tail(metric, at, (now["low"], now["high"]), (min(changes), max(changes)))


def _gaps(decode: Iterable[_Step], prefill: Iterable[_Step], rest: str, ratio: str | None) -> Iterator[tuple[float, float]]:
    """Between two tokens. Where prefill steps outnumber decode steps, each gap has the whole ones of their quotient, of mean length, and
    perhaps one more."""
    steps = tuple(decode)
    between = [(step.ms(rest, ratio), step.calls) for step in prefill]
    decodes, prefills = sum(step.calls for step in steps), sum(calls for _, calls in between)
    each, chance = divmod(prefills / decodes, 1.0)
    always = each * sum(ms * calls for ms, calls in between) / prefills if each else 0.0
    for step in steps:
        gap = step.ms(rest, ratio) + always
        yield gap, step.token_share * (1 - chance)
        yield from ((gap + ms, step.token_share * chance * calls / prefills) for ms, calls in between)


def _prefills(prefill: Iterable[_Step], rest: str, ratio: str | None) -> Iterator[tuple[float, float]]:
    return ((step.ms(rest, ratio), step.token_share) for step in prefill)


def _steps(run: Run, decision: Decision, compared: Pair, phase: Phase) -> tuple[_Step, ...] | None:
    """None where a part that counts has no model, no upper end of it, or no ratio."""
    found = effect.counted_in(run, phase)
    side = effect.side_of(found, phase)
    models, ratios = effect.models(decision), effect.ratios(decision, compared.of(side))
    same = decision.default is not None and compared.of(side) == decision.default.of(side)
    grouped: dict[object, list[WeightedCell]] = {}
    for one in found:
        grouped.setdefault((one.cell.context_lens, one.cell.new_lens, one.cell.prompt_lens), []).append(one)
    names = {one.cell.name for cells in grouped.values() for one in cells}
    bounded = all(name in models and models[name].rest_ms_high is not None for name in names)
    if decision.default is None or not bounded or not (same or names <= ratios.keys()):
        return None
    return tuple(
        _Step(
            *(cells[0].calls_per_1000_tokens, cells[0].token_share),
            tuple((models[one.cell.name], None if same else ratios[one.cell.name]) for one in cells),
        )
        for cells in grouped.values()
    )


def _part_ms(model: StepModel, its: Interval | None, rest: str, ratio: str | None) -> float:
    factor = 1.0 if its is None or ratio is None else getattr(its, ratio)
    other = model.rest_ms_low if rest == "low" else model.rest_ms_high
    return float(model.attention_ms * factor + (other or 0.0))


def _row(tail: Tail) -> tuple[str, ...]:
    low, high = map(numbers.milliseconds, tail.default_ms)
    return tail.metric, f"p{tail.percentile * 100:g}", low if low == high else f"{low} to {high}", numbers.change_range(*tail.change)

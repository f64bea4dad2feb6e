"""What every pair is judged in: the incumbent, the cells that count, the confidence each comparison needs, the step around."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from store.decision import Pair
from store.runs.run import Run
from store.scenario import Decide, WeightedCell
from tuner.arithmetic.looks import looks_up_to
from tuner.arithmetic.objective import counted
from tuner.arithmetic.statistics import bonferroni
from tuner.deciding.floor import rules_of
from tuner.deciding.table import Table
from tuner.step_model.rates import rates
from tuner.step_model.step import Span, Surroundings, layers_rest
from tuner.workload.ranks import ranks_of, world_size


@dataclass(frozen=True)
class Contest:
    """``default`` None = it was not measured. ``cells`` are those the objective adds up, ``comparisons`` the rivals that
    share the error rate at each of the ``looks``, ``confidence`` what each of their intervals needs (Bonferroni). ``rest`` = ms of
    everything but attention per 1000 output tokens, over the same cells. ``earlier``: processes that tell how much differences
    scatter, where those of ``table`` are too few to; they say nothing of where the differences lie. ``waits``: the server has several
    ranks and several boards were measured, of which it waits for the slowest (`tuner.deciding.slowest`)."""

    table: Table
    rules: Decide
    default: Pair | None
    cells: tuple[WeightedCell, ...]
    comparisons: int
    confidence: float
    around: Surroundings
    rest: Span
    looks: tuple[int, ...]
    earlier: Table | None = None
    waits: bool = False

    @property
    def look_confidence(self) -> float:
        """Of what shares its error with the looks alone: one cell, and a tie, since an intersection-union test needs no correction."""
        return bonferroni(self.rules.confidence, len(self.looks))


def contest_of(run: Run, table: Table, default: Pair | None, ranked: Iterable[Pair]) -> Contest:
    """``ranked`` are the pairs that may be compared; those that differ in no counted cell are one rival."""
    rules = rules_of(run)
    cells = counted(table.cells, rules.objective)
    comparisons = max(0, len({counted_arms(pair, cells) for pair in ranked}) - 1)
    around = surroundings_of(run)
    looks = looks_up_to(run.scenario.measure.processes)
    confidence = bonferroni(rules.confidence, comparisons * len(looks))
    waits = world_size(run.scenario.engine) > 1 and len(table.boards) > 1
    return Contest(table, rules, default, cells, comparisons, confidence, around, rest_of(cells, around), looks, waits=waits)


def surroundings_of(run: Run) -> Surroundings:
    device = "cpu" if run.environment.board.kind == "cpu" else "cuda"
    return Surroundings(run.scenario.model, ranks_of(run.scenario.engine), device, rates(run.scenario.gpu, run.trials), run.rests)


def rest_of(cells: Iterable[WeightedCell], around: Surroundings) -> Span:
    """Everything but attention in the steps of 1000 output tokens, in ms."""
    spans = (layers_rest(weighted, around) * weighted.calls_per_1000_tokens for weighted in cells)
    return reduce(Span.__add__, spans, Span(0.0, 0.0))


def counted_arms(pair: Pair, cells: Iterable[WeightedCell]) -> frozenset[tuple[str, str]]:
    """(phase, arm) of every phase that counts: pairs that agree in it have the same objective."""
    return frozenset((weighted.cell.phase.value, pair.of(weighted.cell.phase)) for weighted in cells)

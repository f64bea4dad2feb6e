"""What else a switch changes beside the time of the kernels, and what each arm costs by itself."""

from __future__ import annotations

from dataclasses import dataclass

from backends.outcome import Outcome
from reports import choice, terms, wording
from reports.cost_readings import FEATURES, UNMEASURED, UNREAD, readings
from reports.page import Section, Table
from store.decision import Decision, Pair, Ruling
from store.runs.run import Run

NOTES = (
    "KV tokens by the engine's rule for its memory fraction; workspaces and graphs come out of the rest. Prefixes are reused by the page.",
    "Workspaces: what backend and call keep on the device beside the KV pool, for one batch size; CUDA graphs: the pool of one recording.",
    'Where a pair has two arms, "a + b" is what each of them takes.',
    "First calls hold the kernels that had to be built. Errors: relative, against the float reference, over the rows and heads checked.",
)
FIRST = 4  # of the costs that differ; all stand in the table


@dataclass(frozen=True)
class Cost:
    """Something else that the other pair changes: the default's value and the other's, as shown."""

    what: str
    default: str
    other: str

    @property
    def differs(self) -> bool:
        """Both are known, and not the same as shown."""
        return self.default != self.other and not {self.default, self.other} & {UNMEASURED, UNREAD}


def between(run: Run, default: Pair, other: Pair) -> tuple[Cost, ...]:
    return tuple(Cost(reading.what, reading.of(run, default), reading.of(run, other)) for reading in readings(run))


def line(run: Run, decision: Decision) -> str:
    """What is lost and the first costs that differ, on one line; "" where nothing is compared."""
    other = compared(decision)
    if decision.default is None or other is None:
        return ""
    lost = terms.lost(run, decision.default, other)
    found = [cost for cost in between(run, decision.default, other) if cost.differs and cost.what != FEATURES][:FIRST]
    said = [*([f"loses {lost}"] if lost else []), *(f"{cost.what} {cost.default} -> {cost.other}" for cost in found)]
    return "; ".join(said) or "nothing else that was measured differs"


def summary(run: Run, decision: Decision) -> str:
    """The one line of a terminal: what the pick costs, or what its best rival would cost that may be picked."""
    other, said = compared(decision), line(run, decision)
    if not said or other is None or decision.ruling is Ruling.SWITCH:
        return said
    score = choice.score_of(decision, other)
    return "" if score and score.barred else f"with {wording.pair(other)} it would be: {said}"


def compared(decision: Decision) -> Pair | None:
    """The pick of a switch; else the best rival of the default, one that may be picked before one that may not."""
    if decision.ruling is Ruling.SWITCH:
        return decision.pick if decision.pick != decision.default else None
    rivals = [score for score in choice.ranked(decision) if score.pair != decision.default]
    best = choice.runner_up(decision) or next(iter(rivals), None)
    return best.pair if best else None


def table(run: Run, decision: Decision) -> Section | None:
    other = compared(decision)
    if decision.default is None or other is None:
        return None
    rows = tuple((cost.what, cost.default, cost.other) for cost in between(run, decision.default, other))
    if decision.ruling is Ruling.SWITCH:
        return Section("What else the pick changes", (*NOTES, Table(("what", "default", "pick"), rows)))
    name = wording.by_backend(wording.pair(other), run.arms)
    return Section(f"What else {name} would change", (*NOTES, Table(("what", "default", name), rows)))


def arms(run: Run) -> Section | None:
    """Every arm that gave a time, as if it served both phases."""
    measured = {trial.arm for trial in run.trials if trial.outcome is Outcome.MEASURED}
    names = [arm.name for arm in run.arms if arm.name in measured]
    rows = tuple((reading.what, *(reading.of(run, Pair(name, name)) for name in names)) for reading in readings(run))
    return Section("Costs of every arm", (*NOTES, Table(("what", *names), rows))) if names else None

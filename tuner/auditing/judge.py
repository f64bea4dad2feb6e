"""From what was seen to a verdict on a recorded reason."""

from __future__ import annotations

from collections.abc import Iterable

from backends.measured import Trial
from backends.outcome import Outcome
from reports import numbers
from store.engines.recorded_reason import Expected, ReasonHere, ReasonTest
from store.runs.run import Run
from store.scenario import Decide
from store.verdicts.audit import Basis, ReasonFound, ReasonVerdict, Relation
from tuner.auditing.cells import with_shape
from tuner.auditing.relations import Seen, arm_of, cells_for, seen
from tuner.deciding.contest import Contest
from tuner.deciding.incumbent import missing, never_an_arm

Verdict = ReasonVerdict


def judged(run: Run, contest: Contest, rule: str, here: ReasonHere) -> ReasonFound:
    """What ``run`` says of the reason recorded for ``rule``. ``contest`` is that of the scenario's own cells."""
    test = here.reason.test
    if test.expected is Expected.WRONG:
        return ReasonFound(rule, here, *_of_answers(run, contest, test))
    return found(rule, here, seen(run, contest, test), run.scenario.decide)


def found(rule: str, here: ReasonHere, all_seen: Iterable[Seen], rules: Decide) -> ReasonFound:
    """The reason holds where one relation shows it, and no longer where all relations there should be show the contrary."""
    all_seen = tuple(all_seen)
    relations = tuple(each for each in all_seen if isinstance(each, Relation))
    unknown = next((each for each in all_seen if isinstance(each, str)), "")
    single = [of_relation(each, here.reason.test, rules) for each in relations]
    if not relations:
        return ReasonFound(rule, here, Verdict.UNTESTABLE, (), unknown or "nothing of it was measured")
    if Verdict.HOLDS in single:
        return ReasonFound(rule, here, Verdict.HOLDS, relations)
    if unknown or Verdict.INCONCLUSIVE in single:
        return ReasonFound(rule, here, Verdict.INCONCLUSIVE, relations, unknown or _too_near(here.reason.test, rules))
    return ReasonFound(rule, here, Verdict.VOID, relations)


def threshold(test: ReasonTest, rules: Decide) -> float:
    """The ratio from which the reason holds; what a tie may be is no slowness."""
    return 1 + max(test.slower_by, rules.tie_margin)


def of_relation(relation: Relation, test: ReasonTest, rules: Decide) -> ReasonVerdict:
    """By the interval. A figure without one must lie beyond ``decide.max_cell_loss`` of the threshold to say anything."""
    least = threshold(test, rules)
    if relation.interval is not None:
        low, high = relation.interval.low, relation.interval.high
    else:
        margin = 1 + (rules.max_cell_loss if relation.basis is Basis.FIGURES else 0.0)
        low, high = relation.ratio / margin, relation.ratio * margin
    if low >= least:
        return Verdict.HOLDS
    return Verdict.VOID if high < least else Verdict.INCONCLUSIVE


def _too_near(test: ReasonTest, rules: Decide) -> str:
    return f"what was seen lies too near to {numbers.ratio(threshold(test, rules))} times, from where the reason holds"


def _of_answers(run: Run, contest: Contest, test: ReasonTest) -> tuple[ReasonVerdict, tuple[Relation, ...], str]:
    """A probe says whether answers are right. Right ones on other cells than the reason names say nothing of those."""
    arm = arm_of(run, test.against)
    if arm is None:
        return Verdict.UNTESTABLE, (), never_an_arm(run, test.against, test.phases[0])
    cells = tuple(weighted for phase in test.phases for weighted in cells_for(run, test, phase))
    trials = [contest.table.trials.get((arm.name, weighted.cell.name)) for weighted in cells]
    right = [trial for trial in trials if trial and trial.outcome is Outcome.MEASURED]
    for trial in trials:
        if trial and trial.outcome is Outcome.INCORRECT:
            return Verdict.HOLDS, (), f"{arm.name} on {trial.cell}: {trial.outcome.value}: {trial.detail}"
    if not right or len(right) < len(cells) or not all(with_shape(run.cells, shape) for shape in test.shapes):
        return Verdict.UNTESTABLE, (), missing(contest.table, arm.name, cells) or "none of the cells that the reason names was measured"
    return Verdict.VOID, (), f"{arm.name} answers rightly{_largest_error(right)} on {', '.join(trial.cell for trial in right)}"


def _largest_error(trials: Iterable[Trial]) -> str:
    errors = [trial.relative_error for trial in trials if trial.relative_error is not None]
    return f" (relative error {numbers.small(max(errors))})" if errors else ""

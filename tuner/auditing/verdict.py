"""The audit of one scenario: a verdict on every reason recorded on the path to its default, and one on the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports import wording
from store.decision import Decision, Pair
from store.plan import Plan
from store.runs.run import Run
from store.scenario import Scenario
from store.verdicts.audit import Audit, DefaultFound, DefaultVerdict, ReasonFound, ReasonVerdict
from tuner.auditing.cells import of_scenario
from tuner.auditing.default import default_found
from tuner.auditing.judge import judged
from tuner.auditing.steps import Steps
from tuner.decide import decide
from tuner.deciding.standing import standing_of
from tuner.errors import OK, REGRESSED, Incomplete, worst
from tuner.new_run import command_line

NOTHING_RECORDED = "no reason that can be measured is recorded on the path to it"
NONE_TESTED = "none of the reasons recorded for it can be tested here"

Reasons = tuple[ReasonFound, ...]


def audit_of_run(run: Run, steps: Steps, blocked: Sequence[ReasonFound] = ()) -> Audit:
    """``blocked``: the reasons that could not be tested, known before ``run`` was measured."""
    own = scenario_run(run)
    contest, known = standing_of(own).contest, {found.rule: found for found in blocked}
    reasons = tuple(known.get(rule) or judged(run, contest, rule, here) for rule, here in steps)
    default = default_found(own, decide(own))
    return Audit(
        on=f"{run.scenario.model.name} on {run.environment.board.name}, {run.scenario.traffic.name} traffic",
        engine=run.scenario.engine.name,
        engine_version=run.engine_version,
        rules_version=run.default.rules_version,
        basis=f"run {run.id}, {wording.count(len(run.rounds), 'fresh process', 'fresh processes')}",
        reasons=reasons,
        default=default,
        run=run.id,
        exit_code=exit_code(reasons, default),
        command=run.command,
    )


def decision_of(run: Run) -> Decision:
    """By the scenario's own cells: those of a reason weigh nothing, and no pick must hold on them."""
    return decide(scenario_run(run))


def scenario_run(run: Run) -> Run:
    return replace(run, cells=of_scenario(run.cells))


def unmeasured(plan: Plan, engine_version: str | None, reasons: Reasons) -> Audit:
    """Where nothing is measured: no reason is recorded, or none can be tested here."""
    pair = Pair(plan.default.prefill, plan.default.decode)
    default = DefaultFound(pair, DefaultVerdict.UNTESTED, NONE_TESTED if reasons else NOTHING_RECORDED)
    return Audit(
        on=about(plan.scenario),
        engine=plan.scenario.engine.name,
        engine_version=engine_version,
        rules_version=plan.default.rules_version,
        basis="nothing was measured",
        reasons=reasons,
        default=default,
        run=None,
        exit_code=exit_code(reasons, default),
        command=command_line(),
    )


def about(scenario: Scenario) -> str:
    return f"{scenario.model.name} on {scenario.gpu.name}, {scenario.traffic.name} traffic"


def exit_code(reasons: Reasons, default: DefaultFound) -> int:
    """1: another backend is to be used; 3: something could not be told; 0: the default stays."""
    unsure = default.verdict in (DefaultVerdict.INCONCLUSIVE, DefaultVerdict.UNTESTED)
    unsure |= any(found.verdict in (ReasonVerdict.INCONCLUSIVE, ReasonVerdict.UNTESTABLE) for found in reasons)
    codes = ((REGRESSED, default.verdict is DefaultVerdict.SLOWER), (Incomplete.exit_code, unsure))
    return worst([OK, *(code for code, holds in codes if holds)])

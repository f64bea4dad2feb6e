"""All that a run holds, as sections in reading order: the body of every long report."""

from __future__ import annotations

from reports import (
    choice,
    costs,
    failures,
    ground,
    headline,
    measured,
    robustness,
    searched,
    sensitivity,
    serving_run,
    split,
    tails,
    traffic,
)
from reports.page import Section
from store.decision import Decision
from store.runs.run import Run


def sections(run: Run) -> tuple[Section, ...]:
    found = (
        serving_run.section(run),
        *(_decided(run, run.decision) if run.decision else ()),
        traffic.section(run.scenario.traffic),
        failures.exclusions(run),
        failures.kept_out(run),
        failures.failed_trials(run),
        measured.correctness(run),
        measured.probes(run),
        measured.details(run),
        costs.arms(run),
        measured.kernels(run),
        ground.environment(run),
        ground.findings(run),
        ground.rules(run),
        ground.wall_time(run),
        ground.reproduce(run),
    )
    return tuple(section for section in found if section is not None)


def _decided(run: Run, decision: Decision) -> tuple[Section | None, ...]:
    return (
        split.beneath(choice.objective(run, decision), decision),
        failures.barred(run),
        failures.dropped(run),
        *measured.cell_tables(run, decision),
        sensitivity.section(run, decision),
        robustness.section(run, decision),
        searched.section(run),
        choice.steps(decision),
        tails.section(run, decision, headline.compared_pair(decision)),
        costs.table(run, decision),
        choice.cautions(decision),
    )

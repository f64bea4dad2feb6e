"""What a budget is expected to reach, said before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reports.wording import count
from store.plan import Plan
from tuner import spans
from tuner.budgeting.budget import expected_probe_s, expected_round_s, fewest_processes, in_order
from tuner.budgeting.estimate import timed_cells
from tuner.new_run import default_arms


def prospect(plan: Plan, budget_s: float) -> str | None:
    """One sentence; None where there is nothing to measure."""
    measure = plan.scenario.measure
    incumbents = set(default_arms(plan.default, plan.arms).values())
    arms = in_order(plan.arms, incumbents, plan.eager, measure.backends)
    if not arms:
        return None
    probes_s = [expected_probe_s(plan.scenario, timed_cells([arm], plan.cells, plan.exclusions)) for arm in arms]
    rounds_s = [expected_round_s(plan.scenario, timed_cells(arms[: end + 1], plan.cells, plan.exclusions)) for end in range(len(arms))]
    contest = min(len(incumbents) + 1, len(arms))  # the default alone has nobody to lose to
    reached, processes = fitting(budget_s, probes_s, rounds_s, contest, fewest_processes(measure.processes))
    if reached == 0:
        return _too_small(budget_s, sum(probes_s[:contest]), rounds_s[contest - 1], fewest_processes(measure.processes))
    if reached == len(arms) and processes >= measure.processes:
        whole = f"{count(len(arms), 'arm')} and {count(measure.processes, 'process', 'processes')}"
        return f"measure.budget_s={budget_s:.10g} is expected to suffice for {whole}"
    rest = ", ".join(arm.name for arm in arms[reached:])
    return (
        f"measure.budget_s={budget_s:.10g} is expected to reach {reached} of {len(arms)} arms and {min(processes, measure.processes)} of "
        f"{measure.processes} processes" + (f"; not probed: {rest}" if rest else "")
    )


def fitting(budget_s: float, probes_s: Sequence[float], rounds_s: Sequence[float], contest: int, fewest: int) -> tuple[int, int]:
    """(arms, processes) that end within ``budget_s``: of the arms, in their order, as many as do with the ``fewest`` processes.

    ``rounds_s[k]``: one process with the first k + 1 arms. (0, 0) where not even the first ``contest`` arms do.
    """
    for arms in range(len(probes_s), contest - 1, -1):
        left_s = budget_s - sum(probes_s[:arms])
        if left_s >= fewest * rounds_s[arms - 1]:
            return arms, int(left_s / rounds_s[arms - 1])
    return 0, 0


def _too_small(budget_s: float, probes_s: float, round_s: float, fewest: int) -> str:
    least_s = math.ceil(probes_s + fewest * round_s)
    return (
        f"measure.budget_s={budget_s:.10g} is too small for a decision: the probes of the default and one rival and "
        f"{count(fewest, 'process', 'processes')} take about {spans.words(least_s)}; give {least_s} or more, or run the same command in "
        "several windows: each goes on where the last one ended"
    )

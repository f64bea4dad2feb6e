"""What was decided: the pairs in order of the objective, and the step model behind the prediction."""

from __future__ import annotations

from collections.abc import Iterable

from reports import numbers
from reports.page import Section, Table
from store.decision import Decision, Pair, PairScore
from store.runs.run import Run
from store.step_model import StepModel

UNITS = "attention time per 1000 output tokens; ratio = pair / default, above 1 is slower"


def ranked(decision: Decision) -> list[PairScore]:
    """Pairs, the least attention time first."""
    return sorted(decision.scores, key=lambda score: score.objective_ms)


def score_of(decision: Decision, pair: Pair | None) -> PairScore | None:
    return next((score for score in decision.scores if score.pair == pair), None)


def runner_up(decision: Decision) -> PairScore | None:
    """The best pair that may be picked and is not the default, one that was in every process first: what staying with the default
    gives up. None where all of those left the race, and only a bar keeps out a faster one that stayed."""
    rivals = [score for score in ranked(decision) if score.pair != decision.default]
    allowed = [score for score in rivals if score.barred is None]
    return None if kept_out_alone(rivals) else min(allowed, key=lambda score: score.dropped is not None, default=None)


def kept_out_alone(rivals: Iterable[PairScore]) -> PairScore | None:
    """The fastest of ``rivals`` that stayed in the race, where it may be faster than the default, may not be picked, and every one that
    may be had left: those are far behind, and naming one of them as the nearest would hide what decided."""
    rivals = tuple(rivals)
    stayed = [score for score in rivals if score.dropped is None]
    if any(score.barred is None for score in stayed):
        return None
    first = min(stayed, key=lambda score: score.objective_ms, default=None)
    may_win = first is not None and first.step_gain_high is not None and first.step_gain_high > 0
    return first if may_win else None


def role(decision: Decision, pair: Pair) -> str:
    """ "default", "pick", "tied" or several of them; "not beaten" for others that may be the best for all the run knows."""
    roles = (("default", pair == decision.default), ("pick", pair == decision.pick), ("tied", pair in decision.tie_set))
    said = ", ".join(name for name, holds in roles if holds)
    return said or ("not beaten" if pair in decision.best_set else "")


def step_change(score: PairScore) -> str:
    """The predicted change of a step's time in words, over everything that is uncertain; "" if unknown."""
    if score.step_gain_low is None or score.step_gain_high is None:
        return ""
    return numbers.change_range(-score.step_gain_high, -score.step_gain_low)


def objective(run: Run, decision: Decision) -> Section:
    """Each pair's objective against the default's. A barred pair is shown with its reason elsewhere."""
    phases = run.scenario.engine.role.phases
    served = tuple(phase.value for phase in reversed(phases))
    header = (*served, "attention", "ratio", f"step, {run.scenario.decide.objective.value}", "worst cell", "role")
    rows = tuple((*(score.pair.of(phase) for phase in reversed(phases)), *_score(score, decision)) for score in ranked(decision))
    note = f"{UNITS}; step = predicted change of its time, not measured."
    return Section("Objective of each pair", (note, Table(header, rows)) if rows else ("No pair was measured on every cell.",))


def _score(score: PairScore, decision: Decision) -> tuple[str, ...]:
    return (
        numbers.milliseconds(score.objective_ms),
        numbers.interval(score.ratio) if score.ratio else "",
        step_change(score),
        worst_cell(score),
        "may not be picked" if score.barred else "left the race" if score.dropped else role(decision, score.pair),
    )


def worst_cell(score: PairScore) -> str:
    """ "decode_b64: 1.012 (0.998 to 1.026)"; "" where nothing was compared."""
    if score.worst_cell is None or score.worst_cell_ratio is None:
        return ""
    return f"{score.worst_cell}: {numbers.interval(score.worst_cell_ratio)}"


def steps(decision: Decision) -> Section:
    """The model that turns attention time into time of a step."""
    whose = "default" if decision.default else "fastest allowed pair"
    table = Table(("phase", "cell", "attention", "rest", "share", "the rest is"), tuple(map(_step, decision.steps)))
    body = (f"Attention of the {whose}, beside the rest of a step. {how_known(decision.steps)}", table)
    return Section("Attention's share of a step", body if decision.steps else ("No step was modelled.",))


def how_known(steps: Iterable[StepModel]) -> str:
    """Where the rest of steps comes from."""
    ways = {step.measured for step in steps}
    predicted = "a roofline of weights, small kernels and logits"
    if ways == {True}:
        return "The rest was measured on this board by itself, from every small kernel fused to none; not in a server."
    if ways == {True, False}:
        return f"Where it says so the rest was measured on this board by itself, not in a server; elsewhere it is predicted: {predicted}."
    return f"Predicted, not measured: {predicted}."


def _step(step: StepModel) -> tuple[str, ...]:
    longest = "unbounded" if step.rest_ms_high is None else numbers.milliseconds(step.rest_ms_high)
    rest = f"{numbers.milliseconds(step.rest_ms_low)} to {longest}"
    share, how = numbers.percent_range(step.share_low, step.share_high), "measured" if step.measured else "predicted"
    return step.phase, step.cell, numbers.milliseconds(step.attention_ms), rest, share, how


def cautions(decision: Decision) -> Section | None:
    return Section("Cautions", decision.cautions) if decision.cautions else None

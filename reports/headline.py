"""The answer in a dozen labelled sentences: what every report says before its tables."""

from __future__ import annotations

from reports import choice, costs, effect, numbers, sensitivity, serving_words, split, wording
from store.decision import Decision, Interval, Pair, PairScore, Ruling
from store.runs.run import FINISHED, Run

PREDICTED = "predicted, not measured"
NOT_CONFIRMED = f"{PREDICTED}; not confirmed by a serving run"
FIRST_CAUTIONS = 3

Line = tuple[str, str]


def lines(run: Run) -> tuple[Line, ...]:
    """(label, sentence) of what the run decided; a line with nothing to say is left out."""
    decision = run.decision
    if decision is None:
        return (("Decision", _undecided(run)),)
    compared = compared_score(decision)
    found = (
        ("Decision", decided(run, decision)),
        ("Instead of", instead_of(run, decision)),
        ("Predicted effect", predicted_effect(run, decision, compared)),
        *(("Measured effect", serving_words.beside_the_prediction(served)) for served in run.serving_runs),
        ("Worst cell", _worst_cell(compared)),
        ("Why sure", why_sure(decision, compared)),
        ("Pair or single", split.headline(decision)),
        ("Elsewhere", sensitivity.line(run, decision)),
        ("What it costs", costs.line(run, decision) if decision.ruling is Ruling.SWITCH else ""),
        ("Given up", _given_up(decision)),
        ("Left out for time", "; ".join(run.left_out)),
        ("Cautions", _cautions(decision)),
    )
    return tuple((label, wording.by_backend(sentence, run.arms)) for label, sentence in found if sentence)


def _undecided(run: Run) -> str:
    if run.status == FINISHED:
        return "none: it was measured by another command than tune, which decides no flags"
    return f"none yet: the run is {wording.status(run.status)}"


def compared_score(decision: Decision) -> PairScore | None:
    """The pair the sentences compare with the default: the pick, or the best one that was not picked."""
    picked = decision.pick if decision.ruling is Ruling.SWITCH else None
    return choice.score_of(decision, picked) if picked else choice.runner_up(decision)


def compared_pair(decision: Decision) -> Pair | None:
    score = compared_score(decision)
    return score.pair if score else None


def decided(run: Run, decision: Decision) -> str:
    if decision.ruling is Ruling.INCOMPLETE:
        return f"no pin: {wording.unset(decision.unset_because)}"
    if not decision.flags:
        stays = f" ({wording.pair(decision.default)} stays)" if decision.default else ""
        return f"leave the flags unset{stays}, because {wording.unset(decision.unset_because)}"
    if decision.ruling is Ruling.KEEP:
        chosen = f"{wording.flags(decision.flags)}, as {wording.who_chose(run.scenario)}"
        return f"keep {chosen}, and no other flag, because {wording.unset(decision.unset_because)}"
    return f"set {wording.settings(decision.flags, decision.variables)}"


def instead_of(run: Run, decision: Decision) -> str:
    """What the pick replaces, or what it would have been replaced by."""
    if decision.default is None:
        return wording.default_and_why(run, decision)
    if decision.ruling is Ruling.SWITCH:
        return f"{wording.default(run, decision)}, what would run without a pin: {decision.default_because}"
    best = choice.runner_up(decision)
    return f"{wording.pair(best.pair)}, the best of the others" if best else ""


def predicted_effect(run: Run, decision: Decision, compared: PairScore | None) -> str:
    change = choice.step_change(compared) if compared else ""
    if compared is None or not change:
        return ""
    objective = f"a step ({run.scenario.decide.objective.value}) {change}"
    parts = (objective, effect.text(effect.of_pair(run, decision, compared.pair)), PREDICTED if run.serving_runs else NOT_CONFIRMED)
    condition = "" if decision.ruling is Ruling.SWITCH else f"with {wording.pair(compared.pair)} it would be: "
    return condition + "; ".join(filter(None, parts))


def _worst_cell(compared: PairScore | None) -> str:
    cell = choice.worst_cell(compared) if compared else ""
    return f"{cell} of the default's time" if cell else ""


def why_sure(decision: Decision, compared: PairScore | None) -> str:
    if compared is None or compared.ratio is None:
        return ""
    ratio = compared.ratio
    default = choice.score_of(decision, decision.default)
    times = f"{numbers.milliseconds(compared.objective_ms)}" + (f" against {numbers.milliseconds(default.objective_ms)}" if default else "")
    seen = decision.minimum_detectable_effect
    return "; ".join(
        [
            f"attention per 1000 output tokens {times}",
            f"ratio {numbers.interval(ratio)}, {numbers.level(ratio.confidence)} interval over {ratio.processes} fresh processes",
            *([_before_the_choice(decision.chosen_at)] if decision.chosen_at else []),
            *([f"smallest change of it this run could see {numbers.percent(seen)}"] if seen is not None else []),
        ]
    )


def _before_the_choice(ratio: Interval) -> str:
    """The pick's ratio in the processes it was chosen by, which flatter it."""
    return f"measured after the choice, which was made at {numbers.interval(ratio)} over {ratio.processes} others"


def _given_up(decision: Decision) -> str:
    """The faster pair that a feature or limit keeps out, when there is one."""
    best = next(iter(choice.ranked(decision)), None)
    if best is None or best.barred is None:
        return ""
    ratio = f", ratio {numbers.interval(best.ratio)}" if best.ratio else ""
    return f"{wording.pair(best.pair)}{ratio}: {best.barred}"


def _cautions(decision: Decision) -> str:
    """The first ones; all stand in their own section."""
    more = len(decision.cautions) - FIRST_CAUTIONS
    return "; ".join([*decision.cautions[:FIRST_CAUTIONS], *([f"{more} more below"] if more > 0 else [])])

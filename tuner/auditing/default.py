"""What a decided run says of the default, in the words of an audit."""

from __future__ import annotations

from reports import wording
from reports.choice import score_of, step_change
from store.decision import Decision, Pair, Ruling
from store.runs.run import Run
from store.verdicts.audit import DefaultFound, DefaultVerdict
from tuner.deciding.incumbent import usual


def default_found(run: Run, decision: Decision) -> DefaultFound:
    """By the rules of `tuner.decide`: something else is to be used only where it surely wins ``decide.min_gain`` of a step."""
    default, because = usual(run), wording.unset(decision.unset_because)
    if decision.ruling is Ruling.INCOMPLETE:
        return DefaultFound(default, DefaultVerdict.UNTESTED, because)
    if decision.ruling is Ruling.SWITCH and decision.pick is not None:
        score = score_of(decision, decision.pick)
        change = f"with it a step is {step_change(score)}, predicted" if score and step_change(score) else "it is the fastest measured"
        return DefaultFound(default, DefaultVerdict.SLOWER, change, backends(run, decision.pick), decision.flags)
    verdict = DefaultVerdict.INCONCLUSIVE if undecided(run, decision) else DefaultVerdict.KEEP
    return DefaultFound(default, verdict, because)


def backends(run: Run, pair: Pair) -> Pair:
    names = {arm.name: arm.backend for arm in run.arms}
    return Pair(names[pair.prefill], names[pair.decode])


def undecided(run: Run, decision: Decision) -> bool:
    """Whether some pair that may be picked would, at the favourable end, win as much as a switch takes. A tie is an answer, and so is
    a pair that left the race."""
    if len(decision.tie_set) > 1 and decision.default in decision.tie_set:
        return False
    allowed = [score for score in decision.scores if score.barred is None and score.dropped is None]
    rivals = [score for score in allowed if score.pair != decision.default]
    return any(score.step_gain_high is None or score.step_gain_high >= run.scenario.decide.min_gain for score in rivals)

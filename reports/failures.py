"""What did not run or may not be used, with every reason."""

from __future__ import annotations

from collections import Counter

from backends.outcome import Outcome
from reports import wording
from reports.page import Section, Table
from store.runs.run import Run
from store.scenario import NO_DRIVER, NOT_SELECTED, Exclusion

LIMITED, HALF_LIMITED = "by limits", "from one phase by limits"
UNSELECTED, UNDRIVEN = "by measure.backends", "without a driver in attnpin"
HEADER = ("rule", "backend", "phase", "asked", "allowed", "remedy", "source")
KINDS = (LIMITED, HALF_LIMITED, UNSELECTED, UNDRIVEN)


def exclusions(run: Run) -> Section:
    """Every reason of every excluded backend, sorted by rule so that backends a rule keeps out stand together."""
    rows = sorted(row for exclusion in run.exclusions for row in _reasons(exclusion))
    body = (Table(HEADER, tuple(rows)),) if rows else ("No backend was excluded.",)
    return Section(f"Backends left out before measuring: {exclusion_counts(run)}", body)


def kept_out(run: Run) -> Section | None:
    """Arms that were measured because the user named them, and what of the scenario keeps them from being pinned."""
    kept = dict.fromkeys(one for terms in run.terms for one in terms.barred)
    rows = tuple(sorted(row for one in kept for row in _reasons(one)))
    return Section("Measured by name, kept from a pin by what is asked", (Table(HEADER, rows),)) if rows else None


def exclusion_counts(run: Run) -> str:
    """ "12 by limits, 1 from one phase by limits", each backend once; "none" when all take part."""
    kinds = {exclusion.backend: _kind(exclusion) for exclusion in sorted(run.exclusions, key=lambda one: one.phase is None)}
    counts = Counter(kinds.values())
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "none"


def _kind(exclusion: Exclusion) -> str:
    rules = {reason.rule for reason in exclusion.reasons}
    if rules <= {NOT_SELECTED, NO_DRIVER}:
        return UNSELECTED if NOT_SELECTED in rules else UNDRIVEN
    return LIMITED if exclusion.phase is None else HALF_LIMITED


def _reasons(exclusion: Exclusion) -> list[tuple[str, ...]]:
    return [
        (reason.rule, exclusion.backend, exclusion.phase or "both", reason.asked, reason.allowed, reason.remedy, reason.source)
        for reason in exclusion.reasons
    ]


def failed_trials(run: Run) -> Section:
    """Every attempt that gave no time, and how it ended."""
    rows = tuple(
        (trial.arm, trial.cell, trial.outcome.value, trial.detail or "") for trial in run.trials if trial.outcome is not Outcome.MEASURED
    )
    body = (Table(("arm", "cell", "outcome", "detail"), rows),) if rows else ("No trial failed.",)
    return Section(f"Trials that failed: {len(rows)}", body)


def failure_counts(run: Run) -> str:
    """ "1 crashed, 2 timed out", most frequent first; "" when all went well."""
    counts = Counter(trial.outcome.value for trial in run.trials if trial.outcome is not Outcome.MEASURED)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())


def barred(run: Run) -> Section | None:
    """Pairs that were measured and may still not be picked."""
    scores = run.decision.scores if run.decision else ()
    rows = tuple((wording.pair(score.pair), score.barred) for score in scores if score.barred)
    return Section("Measured, but may not be picked", (Table(("pair", "why"), rows),)) if rows else None


def dropped(run: Run) -> Section | None:
    """Pairs that left the race, as surely not the best, before it ended."""
    scores = run.decision.scores if run.decision else ()
    rows = tuple((wording.pair(score.pair), score.dropped) for score in scores if score.dropped)
    return Section("Left the race early", (Table(("pair", "why"), rows),)) if rows else None

"""Limits that a question breaks, and the reasons this makes."""

from __future__ import annotations

from collections.abc import Sequence

from backends.asked import Kind
from backends.capability import Limits
from backends.limits import Limit, Misfit, misfits, of_engine
from backends.question import Question
from backends.reason import Reason
from backends.vocabulary import WORDS, asked_in_words, in_words

FIND_OUT = "ask a worker (engine.command), or set what is unknown"

Broken = dict[tuple[int, Misfit], list[str]]  # by the limit's place; the layer kinds on which it does not take this


def broken(limits: Limits, kinds: Sequence[Kind]) -> Broken:
    """Of a backend called without an engine, the limits of its libraries alone count."""
    direct = bool(kinds) and kinds[0].question.paths is not None
    found: Broken = {}
    for kind in kinds:
        for place, limit in enumerate(limits):
            if not (direct and of_engine(limit.source)):
                for misfit in misfits(limit, kind):
                    found.setdefault((place, misfit), []).append(kind.layer.name)
    return found


def in_reasons(found: Broken, limits: Limits, question: Question, certain: bool) -> tuple[Reason, ...]:
    """Each once."""
    said = (_reason(limits[place], misfit, kinds, question) for (place, misfit), kinds in found.items() if misfit.certain is certain)
    return tuple(dict.fromkeys(said))


def _reason(limit: Limit, misfit: Misfit, kinds: Sequence[str], question: Question) -> Reason:
    asked = asked_in_words(limit.rule, misfit.value, question)
    if len(kinds) < len(question.layers):
        asked += f" in {' and '.join(kinds)} layers"
    if misfit.unknown:
        asked += f" with {' and '.join(in_words(rule, None) for rule in misfit.unknown)}"
    remedy = (limit.remedy or WORDS[limit.rule].remedy) if misfit.certain else FIND_OUT
    return Reason(limit.rule, asked, limit.in_words, remedy, _source(limit.source, question))


def _source(source: str, question: Question) -> str:
    """With the rule set where it is the engine's, and whom it stands in for."""
    if not of_engine(source):
        return source
    version = question.engine_version
    return f"{source} ({question.rules}{f', applied to {version}' if version not in (None, question.rules) else ''})"

"""One backend against one question: why it may not serve it, what is taken on trust, and what to look out for."""

from __future__ import annotations

from collections.abc import Sequence

from backends.answers import Answer
from backends.asked import Asked, Kind
from backends.capability import DECISIVE, Capability, InnerPath, Judgement, Limits, Note, missing_modules
from backends.limits import Limit, Misfit, misfits, of_engine, unmet
from backends.question import KNOWN_SM, Question
from backends.reason import Reason
from backends.vocabulary import WORDS, asked_in_words, in_words

ATTENTION_CHOICES = "ATTENTION_BACKEND_CHOICES (0.5.16 sglang/srt/server_args.py, 0.5.22 sglang/srt/arg_groups/choices.py)"
ABSENT = "version"  # the rule of a backend that the engine does not have
FIND_OUT = "ask a worker (engine.command), or set what is unknown"

Found = dict[tuple[Limit, Misfit], list[str]]  # and the layer kinds it was found on


def reasons(capability: Capability, question: Question) -> tuple[Reason, ...]:
    """Every reason why the backend may not serve ``question``, each once; empty = it may."""
    return judge(capability, Asked(question)).reasons


def judge(capability: Capability, asked: Asked) -> Judgement:
    """A backend that the engine's version lacks, or that is not made for the device, the model or this kind of attention,
    gets that reason alone. Missing modules count only when nothing else speaks against it.
    """
    decision = _decision(capability, asked)
    return decision if decision.reasons else _otherwise(capability, asked, decision.doubts)


def decided(judgement: Judgement) -> bool:
    """Whether it says no for good: in the other phase and at any page size too."""
    return bool(judgement.reasons) and judgement.reasons[0].rule in (*DECISIVE, ABSENT)


def _decision(capability: Capability, asked: Asked) -> Judgement:
    """By the decisive limits alone; remembered, since it rests on little and is often the end."""
    question, words = asked.question, capability.decisive_words
    answers = [(kind.layer.name, *map(kind.__getitem__, words)) for kind in asked.kinds]
    rests_on = (question.rules, question.engine_version, question.paths, *answers)
    if rests_on not in capability.decisions:
        capability.decisions[rests_on] = _decisively(capability, asked)
    return capability.decisions[rests_on]


def _decisively(capability: Capability, asked: Asked) -> Judgement:
    """The reasons of the first decisive rule that is broken."""
    question = asked.question
    if question.rules not in capability.versions:
        return Judgement((_absent(capability, question.rules),))
    found = _found(capability.of_version[question.rules][0], asked.kinds)
    broken = _in_words(found, question, certain=True)
    first = next((rule for rule in DECISIVE if any(reason.rule == rule for reason in broken)), None)
    return Judgement(tuple(reason for reason in broken if reason.rule == first), _in_words(found, question, certain=False))


def _otherwise(capability: Capability, asked: Asked, doubts: tuple[Reason, ...]) -> Judgement:
    question, kinds = asked.question, with_paths(capability, asked)
    found = _found(capability.of_version[question.rules][1], kinds)
    if against := _in_words(found, question, certain=True) or missing_modules(capability.modules, question.packages):
        return Judgement(against)
    doubts = (*doubts, *_in_words(found, question, certain=False), *_unlisted(question))
    return Judgement((), doubts, _notes(capability, question, kinds))


def with_paths(capability: Capability, asked: Asked) -> Sequence[Kind]:
    """The layer kinds with the inner paths that the backend launches for each, unknown where nobody can tell of one of them."""
    rules = asked.question.rules
    paths = [path for path in capability.paths if rules in path.versions]
    if not paths or asked.question.paths is not None:
        return asked.kinds
    return [kind.but(path=_launched(paths, kind)) for kind in asked.kinds]


def _launched(paths: Sequence[InnerPath], kind: Kind) -> Answer:
    found = [(path.name, unmet(path, kind)) for path in paths]
    return None if any(unknown for _, unknown in found) else tuple(name for name, unknown in found if unknown is not None)


def _found(limits: Limits, kinds: Sequence[Kind]) -> Found:
    """Of a backend called without an engine, the limits of its libraries alone count."""
    direct = bool(kinds) and kinds[0].question.paths is not None
    found: Found = {}
    for kind in kinds:
        for limit in limits:
            if not (direct and of_engine(limit.source)):
                for misfit in misfits(limit, kind):
                    found.setdefault((limit, misfit), []).append(kind.layer.name)
    return found


def _in_words(found: Found, question: Question, certain: bool) -> tuple[Reason, ...]:
    said = (_reason(limit, misfit, names, question) for (limit, misfit), names in found.items() if misfit.certain is certain)
    return tuple(dict.fromkeys(said))


def _reason(limit: Limit, misfit: Misfit, kinds: list[str], question: Question) -> Reason:
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


def _absent(capability: Capability, rules: str) -> Reason:
    known = " and ".join(capability.versions)
    source = capability.history or ATTENTION_CHOICES
    return Reason(ABSENT, f"SGLang {rules}", f"SGLang {known}", "serve with a version that has it", source)


def _unlisted(question: Question) -> tuple[Reason, ...]:
    """An architecture that no limit of the backend names, since nobody has read its limits there."""
    sm = question.gpu.sm
    if sm is None or sm in KNOWN_SM:
        return ()
    listed = f"sm {', '.join(map(str, KNOWN_SM))}: those whose kernels somebody has listed"
    return (Reason("sm", asked_in_words("sm", sm, question), listed, "probe it there", "backends/question.py, KNOWN_SM"),)


def _notes(capability: Capability, question: Question, kinds: Sequence[Kind]) -> tuple[Note, ...]:
    mine = (note for note in capability.notes if question.rules in note.versions)
    return tuple(note for note in mine if any(unmet(note, kind) is not None for kind in kinds))

"""One backend against one question: why it may not serve it, what is taken on trust, and what to look out for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from backends.answers import Answer
from backends.asked import Asked, Kind
from backends.broken import broken, in_reasons
from backends.capability import DECISIVE, Capability, InnerPath, Judgement, Note, missing_modules
from backends.deviation import Deviation
from backends.limits import Limit, holds, misfits, unmet
from backends.question import ENGINES, KNOWN_SM, Question
from backends.reason import Reason
from backends.vocabulary import asked_in_words

ATTENTION_CHOICES = "ATTENTION_BACKEND_CHOICES (0.5.16 sglang/srt/server_args.py, 0.5.22 sglang/srt/arg_groups/choices.py)"
ABSENT = "version"  # the rule of a backend that the engine does not have


def reasons(capability: Capability, question: Question) -> tuple[Reason, ...]:
    """Every reason why the backend may not serve ``question``, each once; empty = it may."""
    return judge(capability, Asked(question)).reasons


def judge(capability: Capability, asked: Asked) -> Judgement:
    """A backend that the engine's version lacks, or that is not made for the device, the model or this kind of attention,
    gets that reason alone. Missing modules count only when nothing else speaks against it.
    """
    decision = decide(capability, asked)
    return decision if decision.reasons else _otherwise(capability, asked, decision.doubts)


def rules_out(capability: Capability, asked: Asked) -> bool:
    """Whether something surely speaks against the backend that neither the phase nor the page size has a say in, so that `judge` would
    say no whatever these are. It stops at the first such limit: for those who do not need to know more."""
    if capability.decides_plainly and decide(capability, asked).reasons:
        return True
    question, whole, left = asked.question, asked.whole, list[Limit]()
    if question.rules not in capability.versions or question.paths is not None:
        return False
    for limit in capability.of_version[question.rules][1]:
        breaks = _breaks(limit, whole.kinds) if limit.steadfast else None
        if breaks:
            return True
        if breaks is None:
            left.append(limit)
    whole.open[capability] = tuple(left)
    return False


def _breaks(limit: Limit, kinds: Sequence[Kind]) -> bool | None:
    """Whether a layer kind surely breaks the limit, None where it may."""
    surely: bool | None = False
    for kind in kinds:
        for misfit in misfits(limit, kind):
            if misfit.certain:
                return True
            surely = None
    return surely


def decide(capability: Capability, asked: Asked) -> Judgement:
    """By the decisive limits alone; remembered, since it rests on little and is often the end."""
    if not capability.decides_plainly:
        return _decisively(capability, asked)
    remembered = asked.whole.decided
    found = remembered.get(capability)
    if found is None:
        found = remembered[capability] = _decisively(capability, asked)
    return found


def _decisively(capability: Capability, asked: Asked) -> Judgement:
    """The reasons of the first decisive rule that is broken."""
    question = asked.question
    if question.rules not in capability.versions:
        return Judgement((_absent(capability, question),))
    limits = capability.of_version[question.rules][0]
    found = broken(limits, asked.kinds)
    against = in_reasons(found, limits, question, certain=True)
    first = next((rule for rule in DECISIVE if any(reason.rule == rule for reason in against)), None)
    return Judgement(tuple(reason for reason in against if reason.rule == first), in_reasons(found, limits, question, certain=False))


def _otherwise(capability: Capability, asked: Asked, doubts: tuple[Reason, ...]) -> Judgement:
    question, kinds = asked.question, with_paths(capability, asked)
    limits = asked.whole.open.get(capability, capability.of_version[question.rules][1])
    found = broken(limits, kinds)
    if against := in_reasons(found, limits, question, certain=True) or missing_modules(capability.modules, question.packages):
        return Judgement(against)
    doubts = (*doubts, *in_reasons(found, limits, question, certain=False), *_unlisted(question))
    return Judgement((), doubts, _notes(capability, question, kinds), tuple(_deviations(capability, question, kinds)))


def with_paths(capability: Capability, asked: Asked) -> Sequence[Kind]:
    """The layer kinds with the inner paths that the backend launches for each, unknown where nobody can tell of one of them."""
    rules = asked.question.rules
    paths = [path for path in capability.paths if rules in path.versions]
    if not paths or asked.question.paths is not None:
        return asked.kinds
    return [kind.but_late(path=partial(_launched, paths, kind)) for kind in asked.kinds]


def _launched(paths: Sequence[InnerPath], kind: Kind) -> Answer:
    found = [(path.name, unmet(path, kind)) for path in paths]
    return None if any(unknown for _, unknown in found) else tuple([name for name, unknown in found if unknown is not None])


def _absent(capability: Capability, question: Question) -> Reason:
    engine, known = ENGINES[question.engine], " and ".join(capability.versions)
    source = capability.history or ATTENTION_CHOICES
    return Reason(ABSENT, f"{engine} {question.rules}", f"{engine} {known}", "serve with a version that has it", source)


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


def _deviations(capability: Capability, question: Question, kinds: Sequence[Kind]) -> Iterator[Deviation]:
    for known in capability.deviations:
        layers = tuple(kind.layer.name for kind in kinds if holds(known, kind))
        if layers and question.rules in known.versions:
            yield Deviation(known.says, layers, known.steps, known.keys, known.source, known.narrow_sums)

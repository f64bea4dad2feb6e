"""What an audit found, for a terminal or for a program: a sentence with its numbers for each recorded reason, then the default."""

from __future__ import annotations

from collections.abc import Iterator

from backends.wire import to_plain
from reports import numbers, onward, recorded_reason, wording
from reports.json_line import json_line
from reports.page import clean
from store.engines.recorded_reason import RecordedReason
from store.verdicts.audit import Audit, Basis, DefaultFound, DefaultVerdict, ReasonFound, ReasonVerdict, Relation

AS_REPORTED = "one figure each, no interval: the relation as reported, not a measured verdict"
LABEL_WIDTH = 8
STAYS = {
    DefaultVerdict.KEEP: "the default is still not slower: keep",
    DefaultVerdict.INCONCLUSIVE: "whether the default is slower is inconclusive: keep",
    DefaultVerdict.UNTESTED: "not tested",
}


def render_json(audit: Audit) -> str:
    """The record's own fields."""
    return json_line(to_plain(audit))


def render_text(audit: Audit) -> str:
    blocks = [[headline(audit)], *(list(_reason(found, audit)) for found in audit.reasons), list(_default(audit))]
    return "\n\n".join("\n".join(map(str.rstrip, block)) for block in blocks) + "\n"


def headline(audit: Audit) -> str:
    return clean(f"{audit.on}, {_engine(audit)}")


def _engine(audit: Audit) -> str:
    name = wording.engine(audit.engine)
    return f"{name} {audit.engine_version}" if audit.engine_version else f"by the rules of {name} {audit.rules_version}"


def _reason(found: ReasonFound, audit: Audit) -> Iterator[str]:
    here, test = found.here, found.here.reason.test
    yield f"{found.rule}: {found.verdict.value}"
    yield _labelled("reason", sentence(found))
    yield _labelled("expected", recorded_reason.expected(test))
    if here.reason.package:
        yield _labelled("releases", releases(found, audit))
    yield from (_labelled("" if place else "recorded", link) for place, link in enumerate(here.reason.sources))


def _labelled(label: str, said: str) -> str:
    return f"  {label:<{LABEL_WIDTH}}  {clean(said)}"


def sentence(found: ReasonFound) -> str:
    """ "fa3 was chosen because ...; with FlashInfer 0.6.14 here ...: the reason no longer holds". Where what was slow is slower still,
    that it is too little of it stands before the verdict, which would contradict what was seen."""
    reason, installed = found.here.reason, found.here.installed
    seen = "; ".join([*map(relation, found.relations), *([found.says] if found.says else [])])
    where = "as reported" if _told(found) else f"with {recorded_reason.package(reason)} {installed} here" if installed else "here"
    said = {
        ReasonVerdict.UNTESTABLE: f"the reason cannot be tested here: {seen}",
        ReasonVerdict.INCONCLUSIVE: f"{where} {seen}: whether the reason holds is inconclusive",
        ReasonVerdict.VOID: f"{where} {seen}{_still(found)}: the reason no longer holds",
    }.get(found.verdict, f"{where} {seen}: the reason {found.verdict.value}")
    honest = f" ({AS_REPORTED})" if _told(found) else ""
    return f"{reason.test.chosen} was chosen because {reason.recorded_because}; {said}{honest}"


def _still(found: ReasonFound) -> str:
    """Of a reason that holds no longer although times are above those of what was chosen."""
    if all(each.ratio <= 1 for each in found.relations):
        return ""
    size = found.here.reason.test.slower_by
    return f", still longer, but not the {numbers.ratio(1 + size)} times of the reason" if size else ", no more than a tie"


def _told(found: ReasonFound) -> bool:
    return any(each.basis is Basis.FIGURES for each in found.relations)


def relation(each: Relation) -> str:
    """Measured figures as new/old with their interval; of reported ones the slower as a multiple of the faster."""
    against, chosen = value(each, each.against_value), value(each, each.chosen_value)
    if each.basis is Basis.FIGURES:
        slower, times = (each.against, each.ratio) if each.ratio >= 1 else (each.chosen, 1 / each.ratio)
        return f"{each.against} {against} and {each.chosen} {chosen} {each.where}: {slower} takes {numbers.ratio(times)} times as long"
    both = f"{each.against} takes {against} against {chosen} of {each.chosen} on {each.where}"
    if each.interval is None:
        return f"{both}, each alone in one process: {numbers.ratio(each.ratio)} times, too slow to race"
    level = f"{numbers.level(each.interval.confidence)} interval over {each.interval.processes} fresh processes"
    return f"{both}, {numbers.interval(each.interval)} times, {level}"


def value(each: Relation, amount: float) -> str:
    """A reported figure with the digits it was reported with."""
    if each.basis is Basis.FIGURES:
        return f"{amount:g} {each.unit}"
    return numbers.microseconds(amount) if each.unit == "us" else f"{numbers.significant(amount, 4)} {each.unit}"


def releases(found: ReasonFound, audit: Audit) -> str:
    """Which releases the reason blames, whether the installed one is among them, and since when the engine goes round it."""
    here, reason = found.here, found.here.reason
    blamed = f"{recorded_reason.package(reason)} {recorded_reason.releases(reason)}"
    among = {True: "among them", False: "not among them", None: "which may be one"}[here.affected]
    installed = f"{here.installed} is installed, {among}" if here.installed else "the installed one is not known"
    return f"{blamed}; {installed}{_avoided(reason, audit)}"


def _avoided(reason: RecordedReason, audit: Audit) -> str:
    if reason.avoided_since is None:
        return ""
    here = f" ({audit.engine_version} is installed)" if audit.engine_version else ""
    return f"; {wording.engine(audit.engine)} goes round the fault by itself since {reason.avoided_since}{here}"


def _default(audit: Audit) -> Iterator[str]:
    yield f"default: {clean(verdict(audit.default))}"
    if audit.default.because:
        yield _labelled("because", audit.default.because)
    if audit.default.flags:
        yield _labelled("flags", wording.flags(audit.default.flags))
    if audit.default.flags or audit.default.verdict is DefaultVerdict.UNTESTED:
        yield _next(audit)
    yield _labelled("judged", audit.basis)
    if audit.run:
        stored = onward.store(audit.command or "")
        yield f"  {'report':<{LABEL_WIDTH}}  {onward.command('attnpin', 'report', '--run', audit.run, *stored)}"


def _next(audit: Audit) -> str:
    """As it can be typed, where it is known what was."""
    what = "looks at every backend, measures the best once more and pins it"
    if audit.command is None:
        return _labelled("next", f"attnpin tune, where it serves, {what}")
    return f"  {'next':<{LABEL_WIDTH}}  {onward.command('attnpin', 'tune', *onward.scenario(audit.command), about=what)}"


def verdict(found: DefaultFound) -> str:
    """ "fa3 is slower: use prefill fa3, decode flashinfer"."""
    name = wording.pair(found.default)
    return f"{name} is slower: use {wording.pair(found.use)}" if found.use else f"{name}, {STAYS[found.verdict]}"

"""A recorded reason in words: which releases it blames, whether the installed one is among them, what its test expects."""

from __future__ import annotations

from backends.cell import Phase
from reports import numbers, wording
from store.engines.recorded_reason import Expected, ReasonHere, ReasonTest, RecordedReason, Shape

PACKAGES = {"flashinfer": "FlashInfer"}
PLACES = {"https://github.com/sgl-project/sglang": "sglang", "https://github.com/flashinfer-ai/flashinfer": "flashinfer"}
KINDS = {"issues": "issue", "pull": "pull request"}


def line(here: ReasonHere) -> str:
    """For a plan: the reason, its first source, how the installed release stands to it."""
    reason = here.reason
    said = f"{package(reason)} {releases(reason)}: {reason.symptom}" if reason.package else f"chosen because {reason.recorded_because}"
    return f"recorded reason: {said} ({source(reason.sources[0])}); {standing(here)}test it with attnpin audit"


def standing(here: ReasonHere) -> str:
    if here.affected is None:
        return f"{here.installed} is installed; " if here.installed else ""
    return f"{'so is' if here.affected else 'not in'} the installed {here.installed}; "


def package(reason: RecordedReason) -> str:
    return PACKAGES.get(reason.package or "", reason.package or "")


def releases(reason: RecordedReason) -> str:
    """ ">= 0.6.0, < 0.6.4"; where no release is known, "of any release"."""
    ends = [f"{sign} {release}" for sign, release in ((">=", reason.first_bad), ("<", reason.first_good)) if release is not None]
    return ", ".join(ends) or "of any release"


def source(link: str) -> str:
    """ "sglang issue 17411" for a link, anything else as it is."""
    for place, name in PLACES.items():
        kind, _, number = link.removeprefix(f"{place}/").partition("/")
        if link.startswith(place) and kind in KINDS:
            return f"{name} {KINDS[kind]} {number}"
    return link


def expected(test: ReasonTest) -> str:
    """ "flashinfer takes at least 2.000 times the time of fa3 in decode, 64 requests of 4096 tokens"."""
    where = "; ".join(map(shape, test.shapes)) or "over the scenario's own cells"
    if test.expected is Expected.WRONG:
        return f"{test.against} answers wrongly in {phases(test)}, {where}"
    size = f"at least {numbers.ratio(1 + test.slower_by)} times the time of" if test.slower_by else "longer than"
    return f"{test.against} takes {size} {test.chosen} in {phases(test)}, {where}"


def phases(test: ReasonTest) -> str:
    return " and ".join(phase.value for phase in Phase if phase in test.phases)


def shape(one: Shape) -> str:
    return f"{wording.count(one.requests, 'request')} of {one.tokens} tokens"

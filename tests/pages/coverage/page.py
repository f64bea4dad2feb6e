"""docs/coverage.md: every backend of SGLang with every feature in every phase: a time, a refusal with its reason, or neither yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.reason import Reason
from reports import numbers
from reports.page import Table, markdown_table
from store.scenario import NO_DRIVER, Exclusion
from tests.pages.coverage.evidence import Seen, seen
from tests.pages.coverage.features import MHA, Feature, features, settings_of
from tests.pages.coverage.outcomes import outcome
from tuner.engines.lookup import rules_of
from tuner.limits import sift

ELSEWHERE = ("device", "sm", "arch", "cpu", "version", "architecture")  # another GPU, another release, another model
UNMEASURED = "not measured"
INTRODUCTION = """\
# What was measured, feature by feature

Made by `make docs` from the runs committed under `examples/` and from the limits in `conf/backend/`, for SGLang 0.5.16 on an H200.

- *12.3 us*: one call in one layer, on the cell and in the run named; *about*: seen in one process, which did not race it.
- *refused*: a limit of the backend speaks against it; *not driven*: attnpin cannot measure it so; *lost*: it failed where it was tried.
- *declared since*: what is known of the backend today; its answers are held to that now ([limits](limits.md#answers-that-deviate)).
- *right, not timed*: its answers were those of the reference on an H200 in the tests of every declared feature, eagerly and recorded
  (`docs/data/features.yaml`), and no committed run has it.
- *not measured*: nothing speaks against it, and neither has it.
"""


@dataclass(frozen=True)
class Row:
    """``said`` by place."""

    backend: str
    said: Mapping[str, str]


def render() -> str:
    asked = [(feature, _rows(feature)) for feature in features()]
    names = [row.backend for row in asked[0][1]]
    absent = {name: why for name in names if (why := _absent([_of(rows, name) for _, rows in asked]))}
    tables = [_section(feature, [row for row in rows if row.backend not in absent]) for feature, rows in asked]
    return "\n".join([INTRODUCTION, *tables, _elsewhere(absent)])


def _section(feature: Feature, rows: Sequence[Row]) -> str:
    lines = tuple((row.backend, *row.said.values()) for row in rows)
    return f"## {feature.name[0].upper()}{feature.name[1:]}\n\n{markdown_table(Table(('backend', *feature.places), lines))}\n"


def _elsewhere(absent: Mapping[str, str]) -> str:
    lines = tuple((name, _driven(name), f"no: {why}") for name, why in absent.items())
    return f"## Not here, whatever the feature\n\n{markdown_table(Table(('backend', 'driven', 'measured here'), lines))}\n"


def _driven(backend: str) -> str:
    entry = next(entry for entry in settings_of(MHA).entries if entry.name == backend)
    return "through the engine, untried" if entry.drivers else f"no: {entry.undriven}"


def _of(rows: Iterable[Row], backend: str) -> Row:
    return next(row for row in rows if row.backend == backend)


def _absent(rows: Sequence[Row]) -> str | None:
    """Why a backend runs with no feature at all here, where it is for what it would need."""
    said = [text for row in rows for text in row.said.values()]
    away = [text for text in said if text.startswith("not here")]
    return away[0].removeprefix("not here: ") if away and all(text.startswith(("not here", "refused")) for text in said) else None


def _rows(feature: Feature) -> list[Row]:
    settings = settings_of(feature.request)
    scenario, evidence, engine = feature.change(settings.scenario), seen(), rules_of(settings.scenario)
    rules, _ = engine.rules_for(scenario.engine.version)
    default = engine.settled(scenario, settings.entries, rules, None).default
    exclusions = sift(scenario, settings.entries, default).exclusions

    def said(entry: BackendEntry, place: str) -> str:
        found = evidence.get((entry.name, feature.name, place))
        return _measured(found) if found else _unmeasured(entry.name, feature, feature.places[place], exclusions)

    return [Row(entry.name, {place: said(entry, place) for place in feature.places}) for entry in settings.entries]


def _measured(found: Seen) -> str:
    where = f"{found.arm} on {found.cell}, {found.example}"
    if found.us is None:
        known = f"; declared since: it {found.known}" if found.known else ""
        return f"lost: {found.lost}; {where}{known}"
    return f"{'' if found.raced else 'about '}{numbers.microseconds(found.us)}: {where}"


def _unmeasured(backend: str, feature: Feature, phase: Phase, exclusions: Iterable[Exclusion]) -> str:
    against = [one for one in exclusions if one.backend == backend and one.phase in (None, phase.value)]
    return _why(against[0].reasons) if against else outcome(backend, feature.tested, phase) or UNMEASURED


def _why(reasons: Sequence[Reason]) -> str:
    reason = reasons[0]
    word = "not driven" if reason.rule == NO_DRIVER else "not here" if reason.rule in ELSEWHERE else "refused"
    return f"{word}: {reason.asked}; it takes {reason.allowed}"

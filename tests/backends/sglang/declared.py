"""What a backend's entry declares of a feature, from its limits alone, so that no test has a list of its own.

The entries are read with PyYAML alone, which an engine brings too: the tests on a GPU run where it is, without attnpin's own packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from backends.arm import Provider
from backends.asked import Asked
from backends.capability import BackendEntry, DriverEntry, Judgement
from backends.cell import Phase
from backends.deviation import Deviation
from backends.gpu import Gpu
from backends.judgement import judge
from backends.measurable import unmeasurable, unverifiable
from backends.question import Question
from backends.reason import Reason
from tests.backends.sglang.features import LARGE, Feature
from tuner.composing.shipped import shipped_entries

H200 = Gpu("NVIDIA H200", "cuda", 90, 132, 150 * 10**9, 60 << 20, 4.8e12, 989e12, 227 << 10, "13.0", "made up")
PAGES = (1, 16, 64, 128)
# Notes under which an answer may be wrong although no limit speaks against the backend: the check of answers has the last word.
DOUBTS = ("without their scales", "before they are written")


@dataclass(frozen=True)
class Declared:
    """``phases`` that the backend declares the feature in, at ``page_size``; ``refused``: why not, of the others. ``doubtful`` phases are
    declared, and a note says that their answers may be wrong; ``deviations``: what else than the model asks may come out of it."""

    backend: str
    feature: Feature
    page_size: int
    phases: tuple[Phase, ...]
    refused: tuple[tuple[Phase, tuple[Reason, ...]], ...]
    doubtful: tuple[Phase, ...]
    deviations: tuple[Deviation, ...]

    def __str__(self) -> str:
        return f"{self.backend}-{self.feature}"


@cache
def entries() -> dict[str, BackendEntry]:
    return {entry.name: entry for entry in shipped_entries("sglang")}


def engine_driver(entry: BackendEntry) -> DriverEntry | None:
    return next((driver for driver in entry.drivers if driver.provider is Provider.ENGINE), None)


def driven(device: str = "cuda") -> Iterator[BackendEntry]:
    """The backends that the engine driver drives on a device."""
    return (entry for entry in entries().values() if (driver := engine_driver(entry)) and device in driver.devices)


def declared(entry: BackendEntry, feature: Feature, rules: str) -> Declared:
    """At the first page size, of those that a tuner would try, at which no limit of pages speaks against it."""
    found = {page: {phase: _judged(entry, feature, phase, page, rules) for phase in Phase} for page in PAGES}
    page = min(found, key=lambda size: (_against_pages(found[size].values()), PAGES.index(size)))
    sides = {phase: _reasons(entry, feature, judgement) for phase, judgement in found[page].items()}
    able = tuple(phase for phase in Phase if not sides[phase])
    doubtful = tuple(phase for phase in able if any(word in note.says for note in found[page][phase].notes for word in DOUBTS))
    deviations = tuple(dict.fromkeys(one for judgement in found[page].values() for one in judgement.deviations))
    return Declared(entry.name, feature, page, able, tuple((phase, why) for phase, why in sides.items() if why), doubtful, deviations)


def _against_pages(judgements: Any) -> int:
    return sum(any(reason.rule == "page_size" for reason in judgement.reasons) for judgement in judgements)


def _judged(entry: BackendEntry, feature: Feature, phase: Phase, page: int, rules: str) -> Judgement:
    model = feature.model(LARGE, "bfloat16", 32_768)
    drafting = feature.drafting
    question = Question(
        *(model, model.layers, H200, phase, feature.kv_dtype, "auto", page),
        *(drafting and drafting.algorithm, drafting.topk if drafting else 0),
        *(("deterministic",) if feature.deterministic else (), rules),
    )
    return judge(entry.capability, Asked(question))


def _reasons(entry: BackendEntry, feature: Feature, judgement: Judgement) -> tuple[Reason, ...]:
    """Those of the driver after those of the backend."""
    driver, model = engine_driver(entry), feature.model(LARGE, "bfloat16", 32_768)
    assert driver is not None
    drafts = () if feature.drafting is None else tuple(unverifiable(model, feature.drafting.algorithm, feature.drafting.topk))
    own = (*unmeasurable(model, [feature.kv_dtype]), *drafts)
    fits = () if model.attention.value in driver.attention else (_not_laid_out(entry, model.attention.value),)
    return (*judgement.reasons, *(own or fits if not judgement.reasons else ()))


def _not_laid_out(entry: BackendEntry, attention: str) -> Reason:
    source = f"conf/backend/{entry.name}.yaml"
    return Reason("attention", f"{attention} attention", "what its driver lays out", "choose another backend", source)

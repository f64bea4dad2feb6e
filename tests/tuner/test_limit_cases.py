"""Public reports as questions to the limits: tests/cases/limits.yaml says what each key means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from backends.asked import asking
from backends.capability import Judgement
from backends.cell import Phase
from backends.judgement import judge
from backends.model import Attention
from store.scenario import Scenario, Speculation
from tests.asking import FULL, MLA, entries, gpu, model
from tests.cases.reading import read_cases
from tests.tuner.scenarios import scenario
from tuner.engines.sglang.pages import page_sizes
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.questions import question_for
from tuner.engines.sglang.rules import rules_for
from tuner.plan import plan_of

CASES = tuple(read_cases("limits").values())
REPORTS = {
    **{"b01": 3, "b02": 2, "b03": 3, "b04": 3, "b05": 0, "b07": 3, "b08": 2, "b09": 0, "b11": 3, "b12": 2, "b13": 2, "b14": 2},
    **{"b15": 2, "b16": 0, "b17": 2, "b18": 0, "b19": 0, "b20": 2, "b21": 0, "b22": 0, "b23": 0, "b24": 2, "b25": 2, "b26": 3},
    **{"b28": 5, "b29": 3, "b30": 2, "b31": 0, "b32": 2, "b33": 2},
}


@dataclass(frozen=True)
class Answer:
    """What the limits say of one backend, over the phases that were asked for."""

    reasons: tuple[str, ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]
    deviations: tuple[str, ...]


def part_name(value: Any) -> str:
    return value["id"] if isinstance(value, Mapping) else str(value)


def variants(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The part once for every combination of the values under `each`."""
    each = part.get("each", {})
    for values in product(*each.values()):
        asked = {key: value for key, value in part.items() if key != "each"}
        for path, value in zip(each, values):
            asked = changed(asked, path.split("."), value)
        yield asked


def changed(tree: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    if path[0].isdigit():
        return [changed((tree or [{}])[0], path[1:], value)]
    return {**(tree or {}), path[0]: changed((tree or {}).get(path[0]), path[1:], value)}


def scenario_of(part: Mapping[str, Any]) -> Scenario:
    asked = {"architecture": "LlamaForCausalLM", **part.get("model", {})}
    attention = Attention(asked.pop("attention", "mha"))
    if attention is Attention.MLA and asked["architecture"] == "LlamaForCausalLM":
        asked["architecture"] = "DeepseekV2ForCausalLM"
    base = MLA if attention is Attention.MLA else FULL
    layers = [replace(base, **layer) for layer in part.get("layers", [{}])]
    engine = dict(part.get("engine", {}))
    if "speculation" in engine:
        engine["speculation"] = Speculation(**engine["speculation"])
    return scenario(gpu(**part.get("gpu", {})), model(*layers, attention=attention, **asked), **engine)


def answer(part: Mapping[str, Any], backend: str) -> Answer:
    """At the page size that the engine settles on for the backend, unless the part says one."""
    case, entry, direct = scenario_of(part), entries()[backend], dict(part.get("direct", {}))
    rules, page = rules_for(case.engine.version)[0], direct.pop("page_size", None)
    question = question_for(case, rules, default_page_size(case.gpu), packages=part.get("packages"))
    paths = {"paths": tuple(direct["paths"])} if "paths" in direct else {}
    ask = asking(replace(question, **{**direct, **paths}))
    tokens = page or page_sizes(case, rules, part.get("packages"))(backend)
    found: list[Judgement] = [judge(entry.capability, ask(Phase(phase), tokens)) for phase in part.get("phases", ["prefill", "decode"])]
    said = [(f"{each.asked} {each.allowed} {each.remedy} {each.source}" for each in one.reasons) for one in found]
    doubted = [(f"{each.asked} {each.allowed} {each.remedy} {each.source}" for each in one.doubts) for one in found]
    return Answer(
        tuple(text for texts in said for text in texts),
        tuple(text for texts in doubted for text in texts),
        tuple(note.says for one in found for note in one.notes),
        tuple(each.says for one in found for each in one.deviations),
    )


def asks() -> Iterator[Any]:
    for case in CASES:
        marks = [pytest.mark.skip(reason=case["skip"])] if "skip" in case else []
        parts = [{key: value for key, value in case.items() if key != "parts"}, *case.get("parts", [])]
        numbered = [(number, variant) for number, part in enumerate(parts) for variant in variants(part)]
        for index, (_, variant) in enumerate(numbered):
            yield pytest.param(variant, id=case["id"] if len(numbered) == 1 else f"{case['id']}/{index + 1}", marks=marks)


@pytest.mark.parametrize("part", list(asks()))
def test_a_report_gets_its_answer(part: Mapping[str, Any]) -> None:
    for backend in part.get("keep", ()):
        assert answer(part, backend).reasons == (), backend
    for kind, wanted in (("reasons", "drop"), ("notes", "note"), ("doubts", "trust"), ("deviations", "deviate")):
        for backend, words in part.get(wanted, {}).items():
            texts = getattr(answer(part, backend), kind)
            assert texts and all(any(word in text for text in texts) for word in words), (backend, words, texts)
    if words := part.get("fatal"):
        fatal = plan_of(scenario_of(part), tuple(entries().values()), part.get("packages")).fatal
        assert any(all(word in note for word in words) for note in fatal), fatal


def test_every_report_has_its_case() -> None:
    wanted = {name if not parts else f"{name}-{part}" for name, parts in REPORTS.items() for part in range(1, (parts or 1) + 1)}
    listed = [case["id"] for case in CASES]
    assert wanted <= set(listed) and len(set(listed)) == len(listed)


def test_a_case_says_what_it_expects_or_why_it_expects_nothing() -> None:
    for case in CASES:
        assert case["source"] and case["about"], case["id"]
        assert ("skip" in case) != bool({"keep", "drop", "note", "trust"} & set(case)), case["id"]

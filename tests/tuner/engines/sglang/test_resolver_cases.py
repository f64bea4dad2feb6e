"""Public reports as questions to the resolver: tests/cases/resolver.yaml says what each key means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from backends.model import Attention
from store.decision import Pair
from store.scenario import Scenario, Speculation
from tests.asking import FULL, entries, gpu, mla_model, model
from tests.cases.reading import read_cases
from tests.tuner.scenarios import scenario
from tuner.engines.sglang.caveats import caveats
from tuner.engines.sglang.pick import default_pick, pin_flags
from tuner.engines.sglang.request import request_for
from tuner.engines.sglang.resolution import Answer, answered, rule_named
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.rules import final_topk, rules_for

CASES = tuple(read_cases("resolver").values())
ALL = tuple(entries().values())


def asks() -> Iterator[Any]:
    for case in CASES:
        yield pytest.param(case, id=case["id"], marks=[pytest.mark.skip(reason=case["skip"])] if "skip" in case else [])


def scenario_of(case: Mapping[str, Any]) -> Scenario:
    asked, engine = dict(case.get("model", {})), dict(case.get("engine", {}))
    latent = Attention(asked.pop("attention", "mha")) is Attention.MLA
    if "speculation" in engine:
        engine["speculation"] = Speculation(**engine["speculation"])
    layers = [replace(FULL, **layer) for layer in case.get("layers", [{}])]
    return scenario(gpu(**case.get("gpu", {})), mla_model(**asked) if latent else model(*layers, **asked), **engine)


def request_of(case: Mapping[str, Any]) -> Request:
    asked = scenario_of(case)
    request, flags = request_for(asked, rules_for(asked.engine.version)[0]), dict(case.get("flags", {}))
    if "draft_backend" in flags:
        flags["draft"] = replace(request.draft, attention_backend=flags.pop("draft_backend"))
    return replace(request, **flags)


def resolved(answer: Answer) -> dict[str, Any]:
    found = answer.resolution
    fields = ("prefill", "decode", "draft", "page_size", "kv_dtype")
    return {**{field: getattr(found, field) for field in fields}, "topk": found.settings.topk}


@pytest.mark.parametrize("case", list(asks()))
def test_a_report_gets_its_answer(case: Mapping[str, Any]) -> None:
    answer, asked = answered(request_of(case)), scenario_of(case)
    assert [refusal.rule for refusal in answer.refusals][:1] == ([case["refused"]] if "refused" in case else [])
    found = resolved(answer)
    assert {key: found[key] for key in case.get("answer", {})} == case.get("answer", {})
    notes = (*caveats(asked, ALL, answer.request.version, None), *(refusal.text for refusal in answer.refusals))
    for word in case.get("says", ()):
        assert any(word in note for note in notes), (word, notes)
    for rule, words in case.get("because", {}).items():
        assert rule in answer.resolution.path and all(word in rule_named(rule).because for word in words)


@pytest.mark.parametrize("case", [case for case in CASES if "pin" in case], ids=lambda case: case["id"])
def test_a_pin_writes_the_page_size_that_only_some_spellings_force(case: Mapping[str, Any]) -> None:
    asked = replace(scenario_of(case), engine=replace(scenario_of(case).engine, attention_backend=None))
    rules = rules_for(asked.engine.version)[0]
    page = answered(request_of(case)).resolution.page_size
    flags = pin_flags(Pair(*case["pin"]["backends"]), default_pick(asked, ALL, rules), page or 0, asked.engine)
    assert dict(flags) == case["pin"]["flags"]


@pytest.mark.parametrize("case", [case for case in CASES if "topk" in case.get("answer", {})], ids=lambda case: case["id"])
def test_limits_are_asked_about_the_width_that_a_draft_ends_up_with(case: Mapping[str, Any]) -> None:
    asked = scenario_of(case)
    assert final_topk(asked.model, asked.engine.speculation) == case["answer"]["topk"]


def test_each_report_is_there() -> None:
    told = {case["id"].split("/")[0].split("-")[0] for case in CASES}
    assert told >= {"d01", "d02", "d04", "d05", "d06", "d08", "d09", "d10", "d11", "d12", "d13"}
    assert told >= {"f02", "f03", "f04", "f05", "f06", "f07"}

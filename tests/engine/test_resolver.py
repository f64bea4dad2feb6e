"""The resolver's rules against SGLang itself: the same scenarios are put to both, for every release whose rules were read."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.engine.asked.answers import Answered, answered, difference
from tests.engine.asked.scenarios import scenarios
from tests.engine.folders import engine_folders
from tuner.engines.sglang.resolver.steps import resolve, rules
from tuner.engines.sglang.resolver.versions import READ

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use of an SGLang unpacks it

COUNT = 3000
HOLDS_AT_LEAST = 5
ENOUGH, SHOWN = 5, 10


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Answered]]:
    """Every release's scenarios with its answers; two releases answer at a time."""
    folders = {version: engine_folders(version) for version in READ}
    places = {version: tmp_path_factory.mktemp(version.replace(".", "-")) for version in READ}  # one by one: threads would race for it

    def ask(version: str) -> list[Answered]:
        return answered(scenarios(version, COUNT), folders[version], places[version])

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(READ, pool.map(ask, READ), strict=True))


@pytest.fixture(scope="module")
def held(everything: dict[str, list[Answered]]) -> dict[str, list[Answered]]:
    """The scenarios in which a rule holds, by the rule's id."""
    found = defaultdict[str, list[Answered]](list)
    for one in (one for answers in everything.values() for one in answers):
        for rule in resolve(one.scenario.request).path:
            found[rule].append(one)
    return found


@pytest.mark.parametrize("version", READ)
def test_the_rules_say_what_sglang_does(everything: dict[str, list[Answered]], version: str) -> None:
    found = [f"{one.scenario.model.name}, {one.scenario.request}: {said}" for one in everything[version] if (said := difference(one))]
    assert not found, f"{len(found)} of {COUNT} differ:\n" + "\n".join(found[:SHOWN])


@pytest.mark.parametrize("version", READ)
def test_most_scenarios_are_served_and_many_are_refused(everything: dict[str, list[Answered]], version: str) -> None:
    refused = sum(one.refused for one in everything[version])
    print(f"\nSGLang {version}: {COUNT} scenarios, {refused} of them refused")
    assert COUNT / 10 < refused < COUNT / 2


def test_every_rule_holds_in_several_scenarios(held: dict[str, list[Answered]]) -> None:
    seldom = {rule.id: len(held[rule.id]) for rule in rules() if len(held[rule.id]) < HOLDS_AT_LEAST}
    assert not seldom


def test_every_rule_is_missed_when_it_is_switched_off(held: dict[str, list[Answered]]) -> None:
    missed = {rule.id: sum(1 for _ in islice(_missing(rule.id, held[rule.id]), ENOUGH)) for rule in rules()}
    for rule, count in missed.items():
        print(f"{rule}: holds in {len(held[rule])} scenarios; without it {'at least ' * (count == ENOUGH)}{count} differ from SGLang")
    assert not [rule for rule, count in missed.items() if count == 0]


def _missing(rule: str, answers: list[Answered]) -> Iterator[Answered]:
    return (one for one in answers if difference(one, frozenset((rule,))))

"""Public reports of slow servers: whether the first cause is the right one. At least nine of ten of those that carry enough have to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from reports.triaged import render_text
from store.serving.triaged import Kind, Triaged
from store.verdicts.verdict import Verdict
from tests.tuner.triaging.serving import decode, printed, serving, start, triaged
from tests.tuner.unmeasured.pinned import FA3_STAYS, FLASHINFER_DECODES, Pinned, known, listing, pinned
from tuner.check import verdict
from tuner.checking.packages import held_against, judged
from tuner.triaging.figures_file import figures_of

CASES = YAML(typ="safe").load((Path(__file__).parent / "cases.yaml").read_text())
ENOUGH = [case for case in CASES if "excluded" not in case]
PUBLISHED = {"a": 37, "c": 10, "f": 11}  # reports in the lists that these were made from, by the first letter of their ids
WANTED = 0.9


def every(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def variants(given: dict[str, Any]) -> Iterator[tuple[Pinned, dict[str, str]]]:
    """A pin made before, and what is installed now, for each combination of values that the report names several of."""
    heads = given.get("heads", [32, 8])
    heads = heads if isinstance(heads[0], list) else [heads]
    now = given.get("now", {})
    then = {name.replace("-", "_"): version for name, version in given.get("then", {}).items()}
    for sm, head, versions in product(every(given.get("sm", 90)), heads, product(*map(every, now.values()))):
        yield made(given["served"] == "fa3", tuple(head), sm, tuple(then.items())), dict(zip(now, versions))


@cache
def made(fa3: bool, heads: tuple[int, int], sm: int, then: tuple[tuple[str, str], ...]) -> Pinned:
    return pinned(FA3_STAYS if fa3 else FLASHINFER_DECODES, heads=heads, sm=sm, **dict(then))


def under(of: Pinned, given: dict[str, Any], now: dict[str, str]) -> Verdict | None:
    if "board" in given:
        board = replace(of.run.environment.board, **given["board"])
        return verdict(of.pin, of.run, replace(of.run.environment, board=board))
    if not now:
        return None
    packages = listing({**of.with_(), **now})
    return judged([held_against(Path("pin.yaml"), of.pin, of.run, packages, known())], packages, known())[0]


def answers(given: dict[str, Any]) -> Iterator[Triaged]:
    served, settings, said = given["served"], given.get("server", {}), given.get("said", ())
    steps = [decode(**given["steps"])] * 20 if "steps" in given else []
    log = printed([*start(served, said, **{"page_size": given.get("page_size", 1), **settings}), *steps])
    figures = figures_of(given["figures"], "figures.yaml") if "figures" in given else None
    for of, now in variants(given):
        wanted = serving(of, served, given.get("page_size", 1), given.get("kv_dtype", "bfloat16"))
        yield triaged(of, log, wanted, under(of, given, now), figures)


def wrong(case: dict[str, Any]) -> list[str]:
    """What is not as expected, for each combination that the report names."""
    expect, found = case["expect"], []
    for answer in answers(case["given"]):
        text = render_text(answer).lower()
        if answer.causes[0].kind.value not in every(expect["top"]):
            found.append(f"the first cause is {answer.causes[0].kind.value!r}")
        found += [f"{word!r} is not said" for word in expect.get("mentions", ()) if word.lower() not in text]
        found += [f"{word!r} is said" for word in expect.get("avoids", ()) if word.lower() in text]
    return found


def test_every_published_report_is_here_and_every_cause_is_one() -> None:
    for letter, count in PUBLISHED.items():
        assert sum(case["id"].startswith(letter) for case in CASES) == count
    assert {top for case in ENOUGH for top in every(case["expect"]["top"])} <= {kind.value for kind in Kind}


def test_the_first_cause_is_right_in_nine_of_ten_reports_that_carry_enough() -> None:
    faults = {case["id"]: found for case in ENOUGH if (found := wrong(case))}
    right = len(ENOUGH) - len(faults)
    print(f"{right} of {len(ENOUGH)} right ({right / len(ENOUGH):.0%}), {len(CASES) - len(ENOUGH)} excluded; wrong: {faults or 'none'}")
    assert right / len(ENOUGH) >= WANTED, faults


@pytest.mark.parametrize("case", [case for case in CASES if "excluded" in case], ids=lambda case: case["id"])
def test_a_report_is_left_out_for_a_stated_reason_alone(case: dict[str, Any]) -> None:
    assert case["excluded"] and "given" not in case and "expect" not in case

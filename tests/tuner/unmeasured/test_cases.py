"""Every public report in cases.yaml: what was installed before and after, and what the list of packages has a pin say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from reports.verdict import render_text
from reports.verdict_markdown import render_markdown
from store.digest import run_digest
from store.verdicts.verdict import Verdict
from tests.tuner.unmeasured.pinned import FA3_STAYS, FLASHINFER_DECODES, known, listing, pinned
from tuner.checking.packages import judged, opened

CASES = YAML(typ="safe").load((Path(__file__).parent / "cases.yaml").read_text())
TIMES = {"flashinfer": FLASHINFER_DECODES, "fa3": FA3_STAYS}


def every(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def verdicts(given: dict[str, Any], folder: Path) -> Iterator[Verdict]:
    then = {name.replace("-", "_"): version for name, version in given["then"].items()}
    heads = given["heads"] if isinstance(given["heads"][0], list) else [given["heads"]]
    lists = [dict(zip(given["now"], versions)) for versions in product(*map(every, given["now"].values()))]
    for sm, head, now in product(every(given["sm"]), heads, lists):
        of = pinned(TIMES[given["served"]], heads=tuple(head), sm=sm, **then)
        packages = listing({**of.with_(), **now})
        yield from judged([opened(of.written(folder / "pin.yaml"), packages, known())], packages, known())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_public_report_is_recognised(case: dict[str, Any], tmp_path: Path) -> None:
    expect = case["expect"]
    for verdict in verdicts(case["given"], tmp_path):
        assert verdict.status.value in every(expect["verdict"])
        assert verdict.exit_code == {"known bad": 1, "changed": 3}[verdict.status.value]
        for said in (render_text(verdict), render_markdown((verdict,))):
            assert [text for text in expect.get("mentions", ()) if text.lower() not in said.lower()] == []
            assert [text for text in expect.get("avoids", ()) if text.lower() in said.lower()] == []


def test_environments_with_two_builds_of_torch_have_two_keys() -> None:
    [case] = [case for case in CASES if case["id"] == "g06-3"]
    of = pinned()
    nows = [of.now({**of.with_(), **case["given"][when]}) for when in ("then", "now")]
    assert len({run_digest(of.run.scenario, now, of.run.protocol) for now in nows}) == 2

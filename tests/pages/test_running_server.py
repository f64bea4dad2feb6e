"""docs/running-server.md: its commands parse, and what it quotes is what the tool says or reads."""

from __future__ import annotations

import re
from pathlib import Path

from ruamel.yaml import YAML

from store.serving.triaged import Ground
from tests.pages.commands import of_page, parse
from tests.tuner.verifying.pinned import LOGS
from tuner.engines.lookup import spoken_by
from tuner.triaging.figures_file import figures_of

ROOT = Path(__file__).parents[2]
CASES = (ROOT / "tests" / "tuner" / "triaging" / "cases.yaml").read_text()
PAGE = (ROOT / "docs" / "running-server.md").read_text()


def test_its_commands_are_the_command_lines_own() -> None:
    shown = [parse(words) for words in of_page(PAGE) if words[0] in ("verify", "launch")]
    triaged = [parse(words) for words in of_page(PAGE) if words[0] == "triage"]
    assert len(triaged) == 7 and all(called["log"] for called in triaged)
    assert sum("follow" in called for called in shown) == 5 and sum("on_stale" in called for called in shown) == 2


def test_every_verdict_is_one_that_the_command_gives() -> None:
    source = (ROOT / "store" / "serving" / "verified.py").read_text()
    for verdict in ("as pinned", "different", "not determinable"):
        assert f"| `{verdict}` |" in PAGE and f'"{verdict}"' in source


def test_the_lines_of_engines_are_lines_that_are_read() -> None:
    quoted = re.findall(r"\| `?[^|]*?`((?:Attention backend|Using hybrid|--block-size N)[^`]*)`", PAGE)
    logs = "".join(path.read_text() for path in LOGS.glob("*.log"))
    assert len(quoted) == 3
    for line in quoted:
        begins = line.split(" X ")[0].split(" N ")[0].removesuffix(" ...")
        assert begins in logs and any(word in line for name in ("sglang", "vllm") for word in spoken_by(name).WORDS)


def test_the_order_of_causes_on_the_page_is_that_of_the_rule() -> None:
    grounds = re.findall(r"^\d\. \*(\w+)\*", PAGE, re.MULTILINE)
    assert [each.lower() for each in grounds] == [ground.value for ground in Ground if ground is not Ground.NOTHING]


def test_the_figures_of_the_page_are_read() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    found = figures_of(YAML(typ="safe").load(shown), "figures.yaml")
    assert [each.component for each in found.figures if each.slower] == ["attention", "moe", "end-to-end"] and found.moved


def test_the_share_of_reports_on_the_page_is_what_is_counted() -> None:
    cases = YAML(typ="safe").load(CASES)
    enough = sum("excluded" not in case for case in cases)
    assert f"Of {len(cases)} public reports of regressions, graphs and flags {enough} carry enough" in PAGE

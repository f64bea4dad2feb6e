"""docs/running-server.md: its commands parse, and what it quotes is what the tool says or reads."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages.commands import of_page, parse
from tests.tuner.verifying.pinned import LOGS
from tuner.engines.lookup import spoken_by

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "running-server.md").read_text()


def test_its_commands_are_the_command_lines_own() -> None:
    shown = [parse(words) for words in of_page(PAGE) if words[0] in ("verify", "launch")]
    assert sum("follow" in called for called in shown) == 5 and sum("on_stale" in called for called in shown) == 2


def test_every_verdict_is_one_that_the_command_gives() -> None:
    source = (ROOT / "store" / "verified.py").read_text()
    for verdict in ("as pinned", "different", "not determinable"):
        assert f"| `{verdict}` |" in PAGE and f'"{verdict}"' in source


def test_the_lines_of_engines_are_lines_that_are_read() -> None:
    quoted = re.findall(r"\| `?[^|]*?`((?:Attention backend|Using hybrid|--block-size N)[^`]*)`", PAGE)
    logs = "".join(path.read_text() for path in LOGS.glob("*.log"))
    assert len(quoted) == 3
    for line in quoted:
        begins = line.split(" X ")[0].split(" N ")[0].removesuffix(" ...")
        assert begins in logs and any(word in line for name in ("sglang", "vllm") for word in spoken_by(name).WORDS)

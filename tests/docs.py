"""What of README.md and docs/ is made: `python -m tests.docs` makes it again, with --check it only says what differs (and leaves with 1).

Whole pages come from the data they print, single figures from what they cite (`tests.pages.figures`), the picture of the demo
from its output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reports import drift, limits_table
from reports.default_tree_svg import render_svg
from tests.bench.adapters import page as adapters
from tests.bench.layouts import page as layouts
from tests.bench.layouts.rows import read_rows
from tests.bench.peers import page as peers
from tests.bench.peers.rows import ROWS as PEERS_ROWS
from tests.bench.peers.rows import read_rows as read_peers
from tests.bench.recheck import page as cost_of_checks
from tests.bench.sittings import page as measuring
from tests.bench.statistics import page as error_rates
from tests.bench.step import page as whole_step
from tests.bench.sweep import page as cost_of_scale
from tests.bench.sweep.rows import read_rows as read_sweeps
from tests.bench.upgrades import page as upgrades
from tests.pages import deploying, recording
from tests.pages.coverage import page as coverage
from tests.pages.figures import renewed
from tests.pages.sources import value
from tuner.drift import drift_of
from tuner.engines.sglang.rules import rules_for
from tuner.engines.sglang.tree import plain_tree
from tuner.settings import compose_backends

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@cache
def pages() -> dict[str, str]:
    """File names and contents of what the data says today."""
    entries = (known := compose_backends(())).entries
    rules = rules_for(known.version)[0]
    vllm = compose_backends(["engine=vllm"])
    return {
        "limits.md": limits_table.render_markdown(entries, rules),
        "limits-vllm.md": limits_table.render_markdown(vllm.entries, vllm.version),
        "drift.md": drift.render_markdown(drift_of(entries, rules), rules),
        "cost-of-checks.md": cost_of_checks.committed(),
        "cost-of-scale.md": cost_of_scale.render(read_sweeps()),
        "error-rates.md": error_rates.render(error_rates.read_rows()),
        "layouts.md": layouts.render(read_rows()),
        "adapters.md": adapters.render(read_rows(adapters.ROWS)),
        "coverage.md": coverage.render(),
        "peers.md": peers.render(read_peers(PEERS_ROWS)),
        "measuring.md": measuring.committed(),
        "whole-step.md": whole_step.committed(),
        "upgrades.md": upgrades.committed(),
        "deploying.md": deploying.render(),
        "default-tree.svg": render_svg(plain_tree(rules)),
    }


def written() -> list[Path]:
    """The pages that people write."""
    made = pages()
    return [ROOT / "README.md", *(page for page in sorted(DOCS.glob("*.md")) if page.name not in made)]


def problems() -> Iterator[str]:
    """A sentence for everything that is not as its sources say."""
    for page in written():
        yield from (f"{page.relative_to(ROOT)}: {problem}" for problem in renewed(page.read_text(), value).problems)
    yield from (f"docs/{name} is stale" for name, text in pages().items() if (DOCS / name).read_text() != text)
    if recording.words(recording.PICTURE.read_text()) != recording.words(recording.picture(recording.output())):
        yield "docs/demo.svg is stale: the demo prints something else"


def make() -> None:
    for page in written():
        page.write_text(renewed(page.read_text(), value).text)
    for name, text in pages().items():
        (DOCS / name).write_text(text)
    recording.PICTURE.write_text(recording.picture(recording.output()))


def main(arguments: list[str]) -> int:
    if arguments != ["--check"]:
        make()
    found = list(problems())
    for problem in found:
        print(f"{problem}; make docs", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

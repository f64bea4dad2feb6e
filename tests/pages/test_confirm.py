"""docs/confirm.md: its commands parse, and what it shows of an H200 is what the evidence of the example says."""

from __future__ import annotations

import re
from statistics import median

from reports.serving_run import render_text
from store.verdicts.comparison import Label
from tests.docs import DOCS
from tests.examples import EXAMPLES, stored
from tests.pages.commands import of_page, parse
from tuner.confirm import EXIT_CODES
from tuner.confirming.predicted import NEAR
from tuner.errors import Incomplete

PAGE = (DOCS / "confirm.md").read_text()


def test_its_commands_are_the_command_lines_own() -> None:
    shown = [parse(words) for words in of_page(PAGE) if words[0] == "confirm" and "--" in words]
    assert len(shown) == 4 and sum(bool(called.get("against")) for called in shown) == 2


def test_what_it_shows_is_what_the_example_holds() -> None:
    _, run = stored(EXAMPLES / "qwen3_8b-h200")
    (shown,) = re.findall(r"```\n(improved: .*?)```", PAGE, re.DOTALL)
    printed = render_text(next(found for found in run.serving_runs if found.against[-1] == "flashinfer"))
    assert all(part.strip("\n") in printed for part in shown.split("...\n")) and shown.count("\n") < printed.count("\n")


def test_how_long_a_server_took_to_be_ready_is_the_median_of_the_starts() -> None:
    _, run = stored(EXAMPLES / "qwen3_8b-h200")
    assert f"{median(start.ready_s for found in run.serving_runs for start in found.starts):.0f} s of them until the server" in PAGE


def test_the_exit_codes_of_the_verdicts_are_those_of_the_command() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d) \|$", PAGE, re.MULTILINE))
    labels = (Label.IMPROVED, Label.EQUIVALENT, Label.REGRESSED, Label.INCONCLUSIVE)
    assert rows == {label.value: str(EXIT_CODES.get(label, Incomplete.exit_code)) for label in labels} | {"void": str(Incomplete.exit_code)}


def test_how_near_a_cell_has_to_be_is_what_the_rule_says() -> None:
    assert f"contexts within {NEAR:.0%}".replace("%", " %") in PAGE

"""What docs/after-an-upgrade.md tells others to type and to expect."""

from __future__ import annotations

import re

from store.verdicts.comparison import Label
from tests.docs import DOCS
from tests.pages.commands import of_page, parse
from tuner.comparing.env import env_of
from tuner.comparing.judge import CODES
from tuner.errors import OK

PAGE = (DOCS / "after-an-upgrade.md").read_text()


def test_every_command_of_the_page_is_one_that_attnpin_takes() -> None:
    shown = list(of_page(PAGE))
    assert {words[0] for words in shown} >= {"check", "compare", "bisect", "history", "report", "demo"}
    for words in shown:
        parse(words)


def test_every_environment_of_the_table_is_read_as_its_row_says() -> None:
    examples = re.findall(
        r"`--(?:candidate|baseline) ('?)([^`]+?)\1`", PAGE.split("An environment (`ENV`) is")[1].split("Nothing is installed")[0]
    )
    read = [env_of(said) for _, said in examples]
    fields = [
        next((name for name in ("packages", "folders", "command", "overrides", "slowed") if getattr(each, name)), "present")
        for each in read
    ]
    assert fields == ["present", "packages", "folders", "command", "command", "overrides", "slowed"]


def test_the_exit_codes_of_the_verdicts_are_those_of_the_command() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| [^|]+ \| (\d) \|$", PAGE, re.MULTILINE))
    assert {label.value: str(CODES.get(label, OK)) for label in Label} == rows

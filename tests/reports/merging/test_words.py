from __future__ import annotations

import pytest

from reports.launchers.entries import Entry, Form
from reports.merging.errors import Conflicts, MergeError
from reports.merging.merge import merge
from tests.reports.merging.merging import DECODE, PAGE, launcher, marked, pin

COMPOSE = launcher(Form.WORDS, "services", "*", "command")
OURS = f'      {marked("flashinfer")}\n      - --{DECODE}\n      - flashinfer\n      {marked("64")}\n      - --{PAGE}\n      - "64"\n'


def compose(*words: str, name: str = "server") -> str:
    lines = "".join(f"      - {word}\n" for word in ("sglang", "serve", *words))
    return f"services:\n  web:\n    command: [nginx]\n  {name}:\n    command:\n{lines}    # after\n    ports: ['80:80']\n"


def test_words_are_added_below_the_last_one() -> None:
    before = compose("--model-path", "M   # the model")
    after = merge(before, pin(), COMPOSE).text
    assert after == before.replace("the model\n", f"the model\n{OURS}")
    assert merge(after, pin(()), COMPOSE).text == before


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ((f"--{PAGE}=1",), (f"--{PAGE}=64",)),
        ((f'"--{PAGE}=1"',), (f'"--{PAGE}=64"',)),
        ((f"--{PAGE}", '"1"'), (f"--{PAGE}", '"64"')),
        ((f"--{PAGE}", "'1'  # small"), (f"--{PAGE}", "'64'  # small")),
        ((f"'--{PAGE} 1'",), (f"'--{PAGE} 64'",)),
    ],
)
def test_a_flag_that_is_there_keeps_its_form(words: tuple[str, ...], after: tuple[str, ...]) -> None:
    only = pin(((PAGE, "64"),))
    with pytest.raises(Conflicts, match="page-size is 1 there and 64 in the pin"):
        merge(compose(*words), only, COMPOSE)
    found = merge(compose(*words), only, COMPOSE, replace=True).text
    assert found == compose(*after).replace(f"      - {after[0]}\n", f"      {marked('64')}\n      - {after[0]}\n")
    assert merge(found, only, COMPOSE).text == found


def test_of_a_flag_that_stands_there_twice_the_last_counts() -> None:
    before = compose(f"--{PAGE}=1", f"--{PAGE}=64", f"--{DECODE}=flashinfer")
    assert merge(before, pin(), COMPOSE).text == before


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("services:\n  s:\n    command: [sglang, serve]\n", "words in brackets, which leave no room for a reason"),
        (compose().replace("- sglang", "- bash").replace("- serve", "- -lc\n      - exec sglang serve"), "starts a shell there"),
        (
            "services:\n  s:\n    command: sglang serve\n",
            "has services.s.command in one string, where a flag has no line for its reason; write it as a list",
        ),
        ("services:\n  web:\n    command:\n      - nginx\n", "has no place for flags of sglang"),
    ],
)
def test_a_command_that_is_no_list_of_its_words_is_refused(before: str, why: str) -> None:
    with pytest.raises(MergeError, match=why):
        merge(before, pin(), COMPOSE)


def test_keys_that_nest_are_no_words() -> None:
    with pytest.raises(MergeError, match="takes no attention-config.backend: keys that nest are no words"):
        merge(
            compose(), pin(), launcher(Form.WORDS, "services", "*", "command", entries=(Entry(("attention-config", "backend"), "X", None),))
        )

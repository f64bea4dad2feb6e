from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.verdict_markdown import MARK, MOST_BYTES, render_markdown
from store.verdicts.verdict import Bearing, Change, FlagsNow, KnownIssue, Served, Status, Verdict

SERVED = Served("fa3", "flashinfer", 1, "bfloat16")
CHANGE = Change("flashinfer-python", "0.6.14", "0.7.1", ("flashinfer/p1",))
ISSUE = KnownIssue(
    "slow", Bearing.SERVED, "0.6.1 is slow", "it splits nothing", ("hold flashinfer-python<0.6.0",), ("https://example.org/1",)
)
HOLDS = Verdict(Status.UNCHANGED, (), "nothing moved", 0, pin="a/pin.yaml", about="a model on a GPU: unset")
MOVED = Verdict(
    Status.CHANGED,
    (CHANGE,),
    "flashinfer-python moved",
    3,
    pin="b/pin.yaml",
    flags=FlagsNow("rules", SERVED, now=SERVED),
    command="attnpin check --pin b/pin.yaml",
)
BAD = replace(MOVED, status=Status.KNOWN_BAD, sentence="0.6.1 is slow", exit_code=1, pin="c/pin.yaml", issues=(ISSUE,), command=None)
LOST = Verdict(Status.UNREADABLE, (), "evidence is lost", 2, pin="d/pin.yaml")


def test_the_verdict_stands_first_and_the_gravest_pin_on_top() -> None:
    lines = render_markdown((HOLDS, MOVED, BAD, LOST)).splitlines()
    assert lines[0] == MARK
    counts = "1 pin unreadable, 1 pin known bad, 1 pin changed, 1 pin unchanged"
    assert lines[2] == f"### Attention pins: cannot be judged ({counts})"
    assert [line.split(" | ")[0] for line in lines[6:10]] == ["| d/pin.yaml", "| c/pin.yaml", "| b/pin.yaml", "| a/pin.yaml"]


@pytest.mark.parametrize(
    ("verdict", "answer"),
    [(HOLDS, "holds as measured"), (MOVED, "measure before you ship"), (BAD, "do not ship it with this pin")],
)
def test_the_heading_says_what_to_do(verdict: Verdict, answer: str) -> None:
    assert f"### Attention pins: {answer} (1 pin {verdict.status.value})\n" in render_markdown((verdict,))


def test_what_moved_what_is_known_and_the_command_are_folded_below() -> None:
    text = render_markdown((MOVED, BAD))
    assert text.count("<details>") == text.count("</details>") == 2
    assert "| flashinfer-python | 0.6.14 | 0.7.1 | flashinfer/p1 |" in text
    assert "Way out: hold flashinfer-python&lt;0.6.0" in text and "Source: https://example.org/1" in text
    assert "```sh\nattnpin check --pin b/pin.yaml\n```" in text


def test_a_pin_that_holds_takes_one_row() -> None:
    assert "<details>" not in render_markdown((HOLDS,))


def test_a_pin_that_cannot_be_read_has_nothing_more_to_unfold() -> None:
    assert "<details>" not in render_markdown((LOST,))


def test_no_absolute_path_of_this_machine_stands_in_it() -> None:
    text = render_markdown((replace(MOVED, pin="/home/alice/deploy/pin.yaml", command="attnpin check --pin /home/alice/deploy/pin.yaml"),))
    assert "/home/alice" not in text


@settings(max_examples=20)
@given(words=st.text(max_size=40), repeat=st.integers(1, 4000), pins=st.integers(1, 40))
def test_it_is_short_enough_to_be_posted_whatever_it_says(words: str, repeat: int, pins: int) -> None:
    long = words * repeat
    verdict = replace(BAD, sentence=long, changes=(replace(CHANGE, after=f"1{long}"),), issues=(replace(ISSUE, why=long),))
    text = render_markdown((*(replace(verdict, pin=f"{index}.yaml") for index in range(pins)), HOLDS))
    assert len(text.encode()) < MOST_BYTES and text.startswith(f"{MARK}\n\n### Attention pins: do not ship it")


def test_what_does_not_fit_is_counted() -> None:
    many = tuple(replace(BAD, pin=f"{index:04}.yaml", sentence="x" * 300) for index in range(2000))
    text = render_markdown(many)
    shown, rows = text.count("<details>"), text.count("known bad: do not ship")
    assert 0 < rows < 2000 and 0 < shown < 2000
    assert text.rstrip().endswith(f"{2000 - shown} pins more in full, and {2000 - rows} rows more above, with `--json`.")

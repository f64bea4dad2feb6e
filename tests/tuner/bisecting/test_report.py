"""What a bisection says: the answer first, then what it rests on."""

from __future__ import annotations

import json
import math

from backends.outcome import Outcome
from reports import numbers, verdict_row
from reports.bisection import headline, render_json, render_markdown, render_text
from store.verdicts.bisection import Bisection
from tests.tuner.bisecting.played import FLASHINFER, played
from tests.tuner.bisecting.test_bisect import STORY
from tuner.errors import UsageError

FOUND, _ = played(STORY, "0.6.3", "0.6.14", unmet=("flashinfer-python 0.6.0 requires apache-tvm-ffi>=0.1.9",))


def test_the_answer_comes_first_with_both_ends_and_the_change_in_numbers() -> None:
    (tried,) = (each.verdict for each in FOUND.tried if each.release == "0.6.0")
    assert tried is not None
    worst = max(tried.rows, key=lambda row: row.verdict.numbers.estimate)
    first = f"first bad: flashinfer-python 0.6.0 (0.5.3 is good): {FLASHINFER} on {worst.cell} 1.000 -> "
    change = f"{numbers.ratio(math.exp(worst.verdict.numbers.estimate))} ({numbers.microseconds(worst.old)} with 0.5.3, "
    after = f"{numbers.microseconds(worst.new)} with 0.6.0); first good again: 0.6.4"
    assert render_text(FOUND).splitlines()[0] == first + change + after


def test_every_step_stands_in_the_table_and_what_was_not_measured_is_said() -> None:
    text = render_text(FOUND)
    steps = text.partition("\nSteps\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert [line.split()[:2] for line in steps] == [[each.release, each.standing.value] for each in FOUND.tried]
    assert "assumed    that what was not measured is as its measured neighbours: 0.6.2, 0.6.6\n" in text
    assert "way out: hold flashinfer-python<0.6.0" in text and "way out: take flashinfer-python>=0.6.4" in text
    assert "What else would have to move\n  flashinfer-python 0.6.0 requires apache-tvm-ffi>=0.1.9" in text


def test_markdown_folds_what_comes_after_the_answer_and_json_is_one_line() -> None:
    assert render_markdown(FOUND).startswith("**first bad: flashinfer-python 0.6.0 ") and len(render_markdown(FOUND)) < 60_000
    (line,) = render_json(FOUND).splitlines()
    assert json.loads(line)["first_bad"] == {"before": "0.5.3", "first": ["0.6.0"]}


def test_where_releases_were_skipped_all_that_may_be_the_first_are_named() -> None:
    found, _ = played({"0.6.0": UsageError("no wheel of it"), "0.6.1": 9.0}, "0.6.1")
    assert headline(found).startswith("first bad: flashinfer-python, one of 0.6.0, 0.6.1 (0.5.3 is good, 0.6.1 is bad): ")
    assert "skipped    0.6.0: no wheel of it" in render_text(found) and "hold flashinfer-python<=0.5.3" in render_text(found)
    found, _ = played({"0.6.0": 9.0, "0.6.1": UsageError("no wheel of it"), "0.6.2": 0.0}, "0.6.0", "0.6.2")
    assert headline(found).endswith("; first good again: one of 0.6.1, 0.6.2 (0.6.0 is bad, 0.6.2 is good)")


def test_an_end_without_a_fault_an_open_one_and_a_broken_arm_each_have_their_sentence() -> None:
    assert headline(played({"0.6.0": 0.0}, "0.6.0")[0]).startswith("no regression: flashinfer-python 0.6.0 is not slower than 0.5.3")
    assert headline(played({"0.6.0": "never told"}, "0.6.0")[0]).startswith("inconclusive: whether flashinfer-python 0.6.0 is slower")
    assert f"{FLASHINFER} on decode_0 is incorrect: it is gone" in headline(played({"0.6.0": Outcome.INCORRECT}, "0.6.0")[0])
    assert headline(played({"0.6.0": 9.0, "0.6.1": 9.0}, "0.6.0", "0.6.1")[0]).endswith("; 0.6.1 is still bad")
    skipped = {"0.6.0": 9.0, "0.6.1": UsageError("no wheel of it")}
    assert headline(played(skipped, "0.6.0", "0.6.1")[0]).endswith("; 0.6.1 is not to be told of: no wheel of it")


def test_what_is_left_in_a_cured_release_is_a_finding_of_its_own() -> None:
    found, _ = played({"0.6.0": 9.0, "0.6.1": 0.03, "0.6.2": 0.04, "0.6.3": 0.0}, "0.6.0", "0.6.3")
    assert headline(found).endswith("; first good again: 0.6.1; " + _left(found, "0.6.1"))
    assert "  cured      means surely nearer to 0.5.3 than to 0.6.0, as ratios go, wherever that one is bad\n" in render_text(found)
    assert f"  left over  {_left(found, '0.6.2')}\n" in render_text(found)


def _left(found: Bisection, release: str) -> str:
    tried = found.of(release)
    assert tried is not None and tried.verdict is not None
    rows = sorted((row for row in tried.verdict.rows if row.cell), key=lambda row: -row.verdict.numbers.estimate)
    each = "; ".join(f"{verdict_row.place(row)} still takes {verdict_row.interval(row)}" for row in rows)
    return f"{release} is cured of it; but {each} times as long as with 0.5.3"

from __future__ import annotations

import json

import pytest

from backends.wire import from_plain
from reports import verdict
from store.verdicts.verdict import Bearing, Change, FlagsNow, KnownIssue, Served, Status, Verdict

CHANGES = (
    Change("flashinfer-python", "0.6.14", "0.7.1", ("flashinfer/p1",)),
    Change("FLASHINFER_WORKSPACE_BASE", None, "/home/alice/cache", ("flashinfer/p1", "fa3/p1")),
)
CHANGED = Verdict(Status.CHANGED, CHANGES, "2 things changed under the pin; run attnpin check without --fast to see whether it holds", 3)
UNCHANGED = Verdict(Status.UNCHANGED, (), "nothing under the pin changed", 0)

TEXT = """\
changed: 2 things changed under the pin; run attnpin check without --fast to see whether it holds
  what                       was     is         touches
  flashinfer-python          0.6.14  0.7.1      flashinfer/p1
  FLASHINFER_WORKSPACE_BASE  absent  .../cache  flashinfer/p1, fa3/p1
"""


def test_each_change_stands_with_what_it_touches() -> None:
    assert verdict.render_text(CHANGED) == TEXT


def test_no_change_is_one_line() -> None:
    assert verdict.render_text(UNCHANGED) == "unchanged: nothing under the pin changed\n"


def test_json_gives_the_record_back() -> None:
    for made in (CHANGED, UNCHANGED):
        assert from_plain(Verdict, json.loads(verdict.render_json(made))) == made


SERVED = Served("fa3", "flashinfer", 1, "bfloat16")
ISSUE = KnownIssue("slow", Bearing.RIVAL, "0.6.1 is slow", "it splits nothing", ("hold 0.5.3", "take 0.6.4"), ("https://example.org/1",))

IN_FULL = """\
/deploy/my pin.yaml: changed: torch moved
  pin of a model on a GPU: unset
  what   was  is  touches
  torch  1    2   every arm
  flags: prefill fa3, decode flashinfer, page size 1, KV dtype bfloat16, as pinned (rules)
  known issue, on an arm that the pin was decided against: 0.6.1 is slow: it splits nothing
    way out: hold 0.5.3
    way out: take 0.6.4
    source: https://example.org/1
  next: attnpin check --pin '/deploy/my pin.yaml'
"""


def in_full(flags: FlagsNow) -> Verdict:
    changes, command = (Change("torch", "1", "2", ("every arm",)),), "attnpin check --pin '/deploy/my pin.yaml'"
    name, about = "/deploy/my pin.yaml", "a model on a GPU: unset"
    return Verdict(Status.CHANGED, changes, "torch moved", 3, name, about, flags, (ISSUE,), command)


def test_what_is_known_and_what_to_do_stand_below_and_paths_that_are_to_be_typed_are_whole() -> None:
    assert verdict.render_text(in_full(FlagsNow("rules", SERVED, now=SERVED))) == IN_FULL


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (FlagsNow("rules", SERVED, refusal="no such backend"), 'flags: refused: "no such backend" (rules)'),
        (FlagsNow("rules", SERVED, unknown="nobody can say"), "flags: nobody can say (rules)"),
        (
            FlagsNow("rules", SERVED, now=Served("fa3", "fa3", 64, "bfloat16")),
            "flags: fa3, page size 64, KV dtype bfloat16, "
            "pinned for prefill fa3, decode flashinfer, page size 1, KV dtype bfloat16 (rules)",
        ),
    ],
)
def test_flags_are_told_with_whose_word_it_is(flags: FlagsNow, said: str) -> None:
    assert f"  {said}\n" in verdict.render_text(in_full(flags))


def test_json_is_one_line_and_gives_everything_back() -> None:
    made = in_full(FlagsNow("rules", SERVED, now=SERVED))
    text = verdict.render_json(made)
    assert text.count("\n") == 1 and from_plain(Verdict, json.loads(text)) == made

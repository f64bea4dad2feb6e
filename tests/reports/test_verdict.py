from __future__ import annotations

import json

from backends.wire import from_plain
from reports import verdict
from store.verdict import Change, Status, Verdict

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

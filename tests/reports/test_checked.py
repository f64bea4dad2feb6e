"""A check that measured, as a terminal, a pull request and a program see it."""

from __future__ import annotations

import json
from dataclasses import replace

from backends.outcome import Outcome
from reports.checked import render_json, render_markdown, render_text
from reports.verdict_markdown import MARK, MOST_BYTES
from store.verdicts.checked import Action, Answer, Checked, Glance, Ground, Next
from store.verdicts.comparison import CellVerdict, Comparison, Label
from store.verdicts.verdict import Change, Status, Verdict
from store.verdicts.version_verdict import Broken, Dispatch, Row

NUMBERS = Comparison("flashinfer/p1 on decode-1", 0.7, 0.01, 10.0, 4, 0.005, 3.2, 0.03, 0.08, 0.98, 0.67, 0.73)
ROW = Row("flashinfer/p1", "decode-1", 50.0, 100.7, CellVerdict(Label.REGRESSED, None, NUMBERS))
WHOLE = replace(ROW, arm="prefill fa3/p1, decode flashinfer/p1", cell=None, old=500.0, new=900.0)
UPGRADE = Change("flashinfer-python", "0.6.14 (0)", "0.6.1 (1)", ("flashinfer/p1",))
FOUND = Checked(
    answer=Answer.REGRESSED,
    sentence="flashinfer/p1 takes 2.0 times as long on decode-1",
    ground=Ground.STORED_TIMES,
    fast=Verdict(Status.CHANGED, (UPGRADE,), "flashinfer-python changed", 3),
    scope="qwen3_8b on NVIDIA H200, cells decode-1",
    run="r1",
    dispatches=(Dispatch("flashinfer/p1", "decode-1", "fa2", "fa3", "gone: a; new: b", False),),
    served=(ROW, WHOLE),
    rivals=(replace(ROW, arm="triton/p1"),),
    unconfirmed="driver changed too",
    next=Next(Action.SWITCH, (("decode-attention-backend", "triton"),), "decode: 3 % faster"),
    notes=("two sittings are taken to differ by 1.0 %",),
    ways_out=("set nothing: attnpin check --pin /srv/pins/pin.yaml --write",),
    exit_code=1,
)
TEXT = """\
regressed: flashinfer/p1 takes 2.0 times as long on decode-1
  rests on   today's times against the pin's, run r1
  decision   switch to --decode-attention-backend triton, because decode: 3 % faster
  holds for  qwen3_8b on NVIDIA H200, cells decode-1
  note       two sittings are taken to differ by 1.0 %
  way out    set nothing: attnpin check --pin /srv/pins/pin.yaml --write

What changed
  what               was         is         touches
  flashinfer-python  0.6.14 (0)  0.6.1 (1)  flashinfer/p1

Today against the pin
  arm                                   cell                           pinned at  today     ratio (98 % interval)   verdict            kernels  processes  detectable
  flashinfer/p1                         decode-1                       50.00 us   100.7 us  2.014 (1.954 to 2.075)  regressed          changed  4          8.0 %
  prefill fa3/p1, decode flashinfer/p1  all cells, ms per 1000 tokens  500.0 ms   900.0 ms  2.014 (1.954 to 2.075)  regressed                   4          8.0 %
  triton/p1                             decode-1                       50.00 us   100.7 us  2.014 (1.954 to 2.075)  regressed (rival)           4          8.0 %
"""  # noqa: E501


def test_the_answer_comes_first_then_what_it_rests_on_and_what_to_do_then_every_number() -> None:
    text = render_text(FOUND)
    assert text.startswith(TEXT)
    assert "\nWhich code runs\n  flashinfer/p1 on decode-1 now means fa3, and was fa2: the dispatch changed (gone: a; new: b)\n" in text


def test_an_answer_by_code_shows_the_one_time_it_took() -> None:
    glance = Glance("fa3/p1", "decode-1", 50.0, 50.2)
    same = replace(FOUND, answer=Answer.EQUIVALENT, ground=Ground.SAME_CODE, glance=glance, served=(), rivals=())
    assert "  one time   fa3/p1 on decode-1, alone in one process: 50.20 us today, 50.00 us when the pin was made\n" in render_text(same)


def test_an_arm_that_is_gone_is_one_sentence_for_all_its_cells_and_a_comment_names_no_folder() -> None:
    lost = tuple(Broken("flashinfer/p1", cell, Outcome.CRASHED, "SIGSEGV") for cell in ("decode-1", "decode-2"))
    assert "\n  flashinfer/p1 on decode-1, decode-2: crashed: SIGSEGV\n" in render_text(replace(FOUND, broken=lost))
    assert "/srv/pins" not in render_markdown([FOUND])


def test_of_several_pins_each_is_named() -> None:
    assert render_text(replace(FOUND, pin="a/pin.yaml")).startswith("a/pin.yaml: regressed: ")


def test_json_is_one_line_with_the_records_own_fields() -> None:
    line = render_json(FOUND)
    assert line.count("\n") == 1 and line.endswith("\n")
    data = json.loads(line)
    assert (data["answer"], data["exit_code"], data["served"][0]["verdict"]["label"]) == ("regressed", 1, "regressed")


def test_a_comment_begins_with_its_mark_and_the_verdict_and_is_never_longer_than_is_taken() -> None:
    one = render_markdown([FOUND])
    assert one.startswith(f"{MARK}\n\n**regressed: flashinfer/p1 takes ") and "<details><summary>What changed</summary>" in one
    many = render_markdown([replace(FOUND, served=(ROW,) * 100)] * 40)
    assert len(many.encode()) <= MOST_BYTES and many.endswith("What is left out here: the same command with `--json`.\n")

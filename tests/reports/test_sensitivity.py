from __future__ import annotations

from dataclasses import replace

import pytest

from reports import headline, summary
from reports.page import text
from reports.sensitivity import section, sentence
from store.revisit import Condition, Revisit, Sensitivity
from tests.tuner.building import one_cell_each
from tests.tuner.revisited import asking, revisited
from tuner.decide import decide

TIMES = (("fa3/p1", 131.0, 135.0), ("flashinfer/p1", 134.0, 130.0))
HOLDS = Sensitivity(Condition.SANDWICH, "decode-64", 2, 386 << 20, TIMES, None, False)
TURNS = replace(HOLDS, turned=("fa3/p1", "flashinfer/p1"), pick_changes=True)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (HOLDS, "the ranking holds when the layer's weights (386 MiB) stream between two calls (decode-64, 2 fresh processes)"),
        (replace(HOLDS, condition=Condition.RANDOM_PAGES), "the ranking holds under random pages (decode-64, 2 fresh processes)"),
        (
            TURNS,
            "the ranking does not hold when the layer's weights (386 MiB) stream between two calls: flashinfer/p1 then takes 0.963 of the "
            "time of fa3/p1, as usual 1.023 (decode-64, 2 fresh processes)",
        ),
        (
            replace(TURNS, condition=Condition.RANDOM_PAGES),
            "layout-sensitive: under random pages flashinfer/p1 would win by 3.7 % (0.963 of the time of fa3/p1, as usual 1.023; "
            "decode-64, 2 fresh processes)",
        ),
        (
            replace(TURNS, condition=Condition.RANDOM_PAGES, pick_changes=False),
            "the ranking does not hold under random pages: flashinfer/p1 then takes 0.963 of the time of fa3/p1, as usual 1.023 "
            "(decode-64, 2 fresh processes)",
        ),
    ],
)
def test_the_answer_is_one_sentence_with_its_numbers(found: Sensitivity, said: str) -> None:
    assert sentence(found) == said


def test_a_justification_says_what_holds_on_its_first_screen_and_shows_every_time() -> None:
    times = {condition: {"fa3/p1": 133.0, "flashinfer/p1": 136.0} for condition in Condition}
    run = revisited(one_cell_each({"fa3": (256.0, 131.0), "flashinfer": (300.0, 134.0)}), times)
    run = replace(run, decision=(decision := decide(run)))
    elsewhere = dict(headline.lines(run))["Elsewhere"]
    assert elsewhere.count("the ranking holds") == 2
    found = section(run, decision)
    assert found is not None and text(found).count("flashinfer/p1") == 2 and "The ranking holds under random pages" in text(found)


def test_nothing_is_said_where_nobody_asked_and_why_nothing_was_tried_where_somebody_did() -> None:
    run = one_cell_each({"fa3": (256.0, 131.0)})
    assert section(run, decide(run)) is None
    alone = replace(asking(run), decision=decide(asking(run)))
    assert dict(headline.lines(alone))["Elsewhere"].startswith("not tried (sandwich, random_pages): no two arms were left")
    assert "\nbesides   not tried (sandwich" in summary.render(alone, None, None, "sqlite:///x")
    assert "Elsewhere" not in dict(headline.lines(replace(run, decision=decide(run))))
    found = section(asking(run), decide(asking(run)))
    assert found is not None and "Not tried (sandwich, random_pages): no two arms were left" in text(found)
    failed = replace(asking(run), revisits=(Revisit(0, 0, "decode_b64", 1, failed="fa3/p1: out of memory: none left"),))
    found = section(failed, decide(failed))
    assert found is not None and "Not tried (sandwich, random_pages): fa3/p1: out of memory: none left." in text(found)

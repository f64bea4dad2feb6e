"""Public reports of upgrades after which something was slower: what is blamed, and what is not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from backends.wire import to_plain
from reports.attribution import headline, render_json, render_markdown, render_text
from tests.tuner.attributing.played import FLASHINFER, TOO_FEW, TRITON, Effects, Upgrade, Versions


@dataclass(frozen=True)
class Case:
    """``loss`` that was reported of the whole engine; ``says`` and ``never``: in what is told."""

    id: str
    before: Versions
    after: Versions
    effects: Effects = field(default_factory=dict)
    loss: float | None = None
    rounds: int = 9
    code: int = 0
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


ELSEWHERE = ("not attention: ", "MoE", "all-reduce")
OLD = {"sglang": "0.4.6", "sglang-kernel": "0.1.0", "torch": "2.6.0", "triton": "3.2.0", "flashinfer-python": "0.2.5"}
NEW = {"sglang": "0.4.7", "sglang-kernel": "0.1.7", "torch": "2.7.1", "triton": "3.3.1", "flashinfer-python": "0.2.6.post1"}
CASES = (
    Case("a05", {"flashinfer-python": "0.6.8.post1"}, {"flashinfer-python": "0.6.11"}, loss=0.15, says=ELSEWHERE),
    Case(
        "a08-1",
        {"torch": "2.5.1", "triton": "3.1.0"},
        {"torch": "2.6.0", "triton": "3.2.0"},
        {"triton": {TRITON: 0.340 / 0.227 - 1}},
        code=1,
        says=("cause: triton 3.1.0 -> 3.2.0 (the compiler below the kernels): alone triton/p1 on decode_",),
        never=("torch 2.5.1 -> 2.6.0 (the framework below the kernels): alone",),
    ),
    Case(
        "a09",
        OLD,
        NEW,
        {"triton": {TRITON: 0.05}},
        loss=0.4,
        rounds=TOO_FEW,
        code=3,
        says=("cause unknown: attention is inconclusive, so neither it nor a package is blamed; move one thing at a time: torch 2.6.0",),
        never=("not attention",),
    ),
    Case("a10-1", {"flashinfer-python": "0.5.3"}, {"flashinfer-python": "0.6.1"}, loss=0.05, says=ELSEWHERE),
    Case(
        "a10-2",
        {"flashinfer-python": "0.5.3"},
        {"flashinfer-python": "0.6.1"},
        {"flashinfer-python": {FLASHINFER: 4.0}},
        code=1,
        says=("cause: flashinfer-python 0.5.3 -> 0.6.1, the only thing that differs",),
        never=("not attention",),
    ),
    Case(
        "a14",
        {"sglang": "0.5.8", "triton": "3.4.0"},
        {"sglang": "0.5.9rc5", "triton": "3.5.1"},
        loss=0.09,
        says=(*ELSEWHERE, "triton 3.4.0 -> 3.5.1 (the compiler below the kernels)", "hold triton==3.4.0 sglang==0.5.8"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_public_report_is_put_down_to_what_it_came_of(case: Case) -> None:
    upgrade = Upgrade(case.before, case.after, case.effects, rounds=case.rounds)
    found = upgrade.attributed(observed_loss=case.loss)
    assert found.exit_code == case.code
    said = headline(found)
    assert [text for text in case.says if text not in said] == [] and [text for text in case.never if text in said] == []
    assert render_text(found).startswith(f"{said}\n") and render_markdown(found).startswith("**")


def test_how_much_slower_a_cause_alone_makes_it_is_what_it_was_made_of() -> None:
    said = headline(Upgrade(OLD, NEW, {"triton": {TRITON: 0.340 / 0.227 - 1}}).attributed())
    assert float(said.rpartition("1.000 -> ")[2]) == pytest.approx(0.340 / 0.227, rel=0.005)


def test_the_share_of_a_loss_that_attention_may_cost_is_told_in_numbers() -> None:
    slower = Upgrade(OLD, NEW, {"flashinfer-python": {FLASHINFER: 0.05}})
    told = {loss: headline(slower.attributed(observed_loss=loss)).rpartition(", ")[2] for loss in (0.04, 0.06, 0.5)}
    assert told == {0.04: "so it may be all of it", 0.06: "so it may be much of it", 0.5: "so most of it lies elsewhere"}


def test_json_is_the_comparisons_line_with_the_attribution_in_it() -> None:
    found = Upgrade(OLD, NEW).attributed()
    (line,) = render_json('{"label": "equivalent"}\n', found).splitlines()
    assert json.loads(line) == {"label": "equivalent", "attribution": {"sentence": headline(found), **to_plain(found)}}


def test_what_is_together_narrowed_or_not_there_has_a_sentence_of_its_own() -> None:
    together = Upgrade(OLD, NEW, together={"triton": {TRITON: 0.5}}).attributed()
    assert headline(together).startswith("cause: no single one of torch 2.6.0 -> 2.7.1 (the framework below the kernels), triton 3.2.0")
    narrowed = Upgrade(OLD, {**NEW, "triton": None}, together={"triton": {TRITON: 0.5}}).attributed()
    assert headline(narrowed).startswith(
        "cause not told apart: triton 3.2.0 -> absent (the compiler below the kernels), since triton alone is"
    )
    assert headline(Upgrade(OLD, OLD, together={"triton": {TRITON: 0.5}}).attributed()).startswith("cause: none that attnpin can see")
    assert headline(Upgrade(OLD, NEW).attributed()).startswith("no cause to be found: attention is not slower")

"""What each sign speaks for, and which cause stands first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.triaged import render_text
from store.serving.triaged import Blame, Cause, Ground, Kind, Triaged
from store.serving.verified import DECODE, PREFILL
from store.verdicts.verdict import Verdict
from tests.tuner.triaging.serving import CAPTURE, RETRACTED, decode, printed, serving, start, triaged
from tests.tuner.triaging.serving import PREFILL as PREFILLED
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, known, listing, pinned
from tuner.checking.packages import held_against, judged
from tuner.errors import OK, REGRESSED, Incomplete
from tuner.triaging.cause import CODES, KINDS, cause, exit_code, ranked
from tuner.triaging.figures_file import figures_of

SERVED = "fa3"


@cache
def of() -> Pinned:
    return pinned(FA3_STAYS)


def answer(messages: Sequence[str], figures: dict[str, Any] | None = None, **now: str) -> Triaged:
    """Of a server that was started as pinned, unless ``messages`` begin with another start; ``now`` as for `Pinned.with_`."""
    log = messages if any("server_args" in each for each in messages) else [*start(SERVED), *messages]
    stated = figures_of(figures, "figures.yaml") if figures else None
    return triaged(of(), printed(log), serving(of(), SERVED), fast(**now) if now else None, stated)


def fast(**now: str) -> Verdict:
    packages = listing(of().with_(**now))
    return judged([held_against(Path("pin.yaml"), of().pin, of().run, packages, known())], packages, known())[0]


def kinds(found: Triaged) -> list[Kind]:
    return [each.kind for each in found.causes]


def test_a_server_as_pinned_with_its_own_traffic_speaks_against_nothing() -> None:
    found = answer([decode(64)] * 20)
    assert kinds(found) == [Kind.NOTHING] and found.exit_code == OK
    assert "as far as can be told: neither queue, KV pool nor prefills stand out" in render_text(found)


@pytest.mark.parametrize(
    ("messages", "kind", "says"),
    [
        ([decode(64, usage=0.99, queued=9)] * 20, Kind.KV_POOL, "99 % of the pool is in use, 9 waiting"),
        ([*[decode(64)] * 20, RETRACTED, decode(64)], Kind.KV_POOL, "3 requests lost their place in the pool"),
        ([decode(64, queued=5)] * 20, Kind.QUEUE, "20 of the last 20 decode lines have a queue"),
        (
            [*[decode(64)] * 10, *[decode(80, graph=False)] * 10],
            Kind.GRAPHS_MISSED,
            "10 of them with more requests than the largest captured",
        ),
        ([*[decode(64)] * 10, *[decode(60, graph=False)] * 10], Kind.GRAPHS_MISSED, "what keeps a step out of its graph"),
        ([PREFILLED, PREFILLED, decode(64, 60.0), decode(64, 30.0)] * 10, Kind.PREFILLS, "make a token take 2.00 times as long"),
        ([decode(200)] * 20, Kind.TRAFFIC, "200 requests at once, measured for 64"),
        ([decode(64, tokens=64 * 9000)] * 20, Kind.TRAFFIC, "9000 tokens a request, measured for 2048"),
    ],
    ids=["full", "retracted", "queue", "above", "kept out", "prefills", "batch", "contexts"],
)
def test_what_the_log_shows_is_a_cause_with_its_line_and_its_remedy(messages: list[str], kind: Kind, says: str) -> None:
    found = answer(messages)
    (its,) = [each for each in found.causes if each.kind is kind]
    assert found.causes[0] is its and says in render_text(found)
    assert any(proof.said for proof in its.proofs) and its.next and its.ground is Ground.SEEN


def test_a_full_pool_goes_before_the_queue_that_it_makes() -> None:
    assert kinds(answer([decode(64, usage=0.99, queued=9)] * 20))[:2] == [Kind.KV_POOL, Kind.QUEUE]


@pytest.mark.parametrize(
    "messages",
    [
        [*[decode(64)] * 99, decode(80, graph=False)],
        [*[decode(64)] * 15, *[decode(64, queued=1)] * 5],
        [PREFILLED, *[decode(64, 30.0)] * 9, PREFILLED, decode(64, 40.0)] * 5,
        [decode(64, usage=0.99)] * 20,
    ],
    ids=["one step", "a short queue", "few prefills", "full and nobody waits"],
)
def test_what_is_rare_is_no_cause(messages: list[str]) -> None:
    assert kinds(answer(messages)) == [Kind.NOTHING]


def test_graphs_that_are_off_are_said_once() -> None:
    off = [each for each in start(SERVED, cuda_graph_config={"decode": {"backend": "disabled"}}) if each != CAPTURE]
    found = answer([*off, *[decode(64, graph=False)] * 20])
    assert kinds(found)[0] is Kind.GRAPHS_OFF and Kind.GRAPHS_MISSED not in kinds(found) and found.exit_code == REGRESSED
    assert "attention is not to blame" in found.sentence


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"tp_size": 4}, "engine.tensor_parallel=4"),
        ({"speculative_algorithm": "EAGLE"}, "engine.speculative.algorithm=EAGLE"),
        ({"enable_deterministic_inference": True}, "'engine.features=[deterministic]'"),
    ],
)
def test_a_server_that_the_pin_is_not_for_is_named_with_what_to_measure(settings: dict[str, Any], says: str) -> None:
    found = answer([*start(SERVED, **settings), *[decode(64)] * 20])
    assert kinds(found)[0] is Kind.OTHER_QUESTION and says in render_text(found)


def test_a_log_without_its_start_leaves_open_what_serves() -> None:
    found = answer(["server_args=cut", *[decode(64)] * 20])
    assert kinds(found)[0] is Kind.UNKNOWN and found.exit_code == Incomplete.exit_code


def test_h15_under_mlx_nothing_of_the_list_ran_and_that_is_said() -> None:
    found = answer([*start(SERVED, device="mps"), *[decode(64)] * 20])
    assert kinds(found)[0] is Kind.UNKNOWN and "MLX runs its own attention" in render_text(found)


def test_what_changed_goes_behind_what_the_log_shows_and_before_nothing() -> None:
    full = [decode(64, usage=0.99, queued=9)] * 20
    assert kinds(answer(full, sglang_kernel="0.4.6"))[::2] == [Kind.KV_POOL, Kind.CHANGED]
    found = answer([decode(64)] * 20, sglang_kernel="0.4.6")
    assert kinds(found) == [Kind.CHANGED, Kind.NOTHING] and found.exit_code == Incomplete.exit_code


def test_attention_that_stands_still_sends_what_could_have_slowed_it_to_the_end() -> None:
    still = {"figures": [{"component": "attention", "change": "same"}]}
    found = answer([decode(64, queued=5)] * 20, still, sglang_kernel="0.4.6")
    assert kinds(found) == [Kind.QUEUE, Kind.CHANGED]
    assert kinds(answer([decode(64)] * 20, still, sglang_kernel="0.4.6")) == [Kind.NOTHING, Kind.CHANGED]


def test_a_difference_that_was_there_before_decode_got_slower_is_not_why() -> None:
    before, after = [*start("triton"), *[decode(64, 40.0)] * 20], [*start("triton"), *[decode(64, 60.0)] * 20]
    (old,) = [each for each in answer([*before, *after]).causes if each.kind is Kind.NOT_AS_PINNED]
    assert old.ground is Ground.MOVED
    since = answer([*start(SERVED), *[decode(64, 40.0)] * 20, *after])
    assert since.causes[0].kind is Kind.NOT_AS_PINNED and since.causes[0].ground is Ground.SAID


def test_a_loss_beyond_what_attention_could_cost_is_not_attention() -> None:
    """The pin's 32 layers take 1.6 ms a step."""
    slow = [*start(SERVED), *[decode(64, 20.0)] * 20, *start(SERVED), *[decode(64, 500.0)] * 20]
    found = answer(slow)
    assert kinds(found)[0] is Kind.SMALL_SHARE and found.causes[0].blame is Blame.ELSEWHERE
    assert "would have to take 301 times as long" in found.sentence
    assert Kind.SMALL_SHARE not in kinds(answer(slow[:24]))


def test_how_slow_attention_would_have_to_be_is_said_beside_a_change() -> None:
    found = answer([*start(SERVED), *[decode(64, 20.0)] * 20, *start(SERVED), *[decode(64, 36.0)] * 20], sglang_kernel="0.4.6")
    (changed,) = [each for each in found.causes if each.kind is Kind.CHANGED]
    assert any("8.0 % of a token then by the pin's times, it takes 11.0 times as long" in proof.words for proof in changed.proofs)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_its_blame_and_its_place(kind: Kind) -> None:
    its = cause(kind, Ground.SAID, "a sentence")
    assert its.blame is KINDS[kind] and exit_code(its) in (*CODES.values(), 5)


@given(st.lists(st.builds(cause, st.sampled_from(Kind), st.sampled_from(Ground), st.just("")), min_size=1), st.booleans(), st.randoms())
def test_the_order_is_that_of_the_rule_and_hangs_on_nothing_else(causes: list[Cause], cleared: bool, random: Any) -> None:
    shuffled = random.sample(causes, len(causes))
    found = ranked(causes, cleared)
    assert [(each.kind, each.ground) for each in found] == [(each.kind, each.ground) for each in ranked(shuffled, cleared)]
    grounds = [list(Ground).index(each.ground) for each in found]
    assert cleared or grounds == sorted(grounds)


def test_both_phases_that_differ_alike_are_one_reason() -> None:
    (first, *_) = answer([*start("triton"), *[decode(64)] * 20]).causes
    assert first.kind is Kind.NOT_AS_PINNED and f"{PREFILL} triton" in first.sentence and f"{DECODE} triton" in first.sentence
    assert sum("triton instead of fa3" in proof.words for proof in first.proofs) == 1


def test_no_more_of_a_log_is_shown_than_quoted_lines() -> None:
    secret = start(SERVED, api_key="sk-made-up", model_path="/models/x", host="10.20.30.40")
    text = render_text(answer([*secret, "Receive: obj=a prompt", *[decode(64, queued=5)] * 20]))
    assert not any(word in text for word in ("sk-made-up", "/models", "10.20.30.40", "a prompt"))


def test_causes_beyond_the_fourth_are_named_alone() -> None:
    many = answer([*start("triton", tp_size=4), *[decode(200, usage=0.99, queued=9, graph=False)] * 20], sglang_kernel="0.4.6")
    text = render_text(many)
    assert len(many.causes) > 4 and f"then     {', '.join(each.kind.value for each in many.causes[4:])}" in text

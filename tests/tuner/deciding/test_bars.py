"""What keeps a faster pair from being picked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.serving_jit import Builds, ServingJit
from store.decision import Decision, Ruling
from store.engines.serving_terms import ServingTerms
from store.runs.run import Run
from tests.tuner.building import ENGINE, one_cell_each
from tuner.decide import decide

FASTER = {"fa3": (554.0, 98.0), "flex_attention": (300.0, 30.0)}
LATE = ServingJit(Builds.PER_SHAPE, "a length it has not met may need a kernel", "made up")
BUILT = ServingJit(Builds.NEVER, "its kernels come built", "made up")


def on_terms(run: Run, **jits: ServingJit | None) -> Run:
    return replace(run, terms=tuple(ServingTerms(arm.name, None, 0.0, (), jits.get(arm.backend, BUILT)) for arm in run.arms))


def barred(found: Decision) -> list[str]:
    return [score.barred for score in found.scores if score.barred]


def test_a_backend_that_may_compile_while_serving_is_not_picked_and_says_what_would_allow_it() -> None:
    found = decide(on_terms(one_cell_each(FASTER), flex_attention=LATE))
    assert found.ruling is Ruling.KEEP and found.unset_because is not None
    sentence = (
        "flex_attention/p1 may compile kernels while it serves (a length it has not met may need a kernel); "
        "with engine.allow_serving_jit=true it may be pinned"
    )
    assert set(barred(found)) == {sentence}
    assert "flex_attention would make a step " in found.unset_because and "engine.allow_serving_jit=true" in found.unset_because


def test_with_leave_it_is_picked_and_still_marked() -> None:
    run = one_cell_each(FASTER, engine=replace(ENGINE, allow_serving_jit=True))
    found = decide(on_terms(run, flex_attention=LATE))
    assert found.flags == (("attention-backend", "flex_attention"),)
    assert "flex_attention/p1 may compile kernels while it serves: a length it has not met may need a kernel" in found.cautions


@pytest.mark.parametrize("jit", [None, BUILT, ServingJit(Builds.FIRST_USE, "each module once", "made up")])
def test_a_backend_that_builds_nothing_while_serving_or_that_nobody_has_read_is_free(jit: ServingJit | None) -> None:
    found = decide(on_terms(one_cell_each(FASTER), flex_attention=jit))
    assert found.ruling is Ruling.SWITCH and not barred(found)


def test_the_default_itself_is_never_barred_and_is_marked() -> None:
    run = one_cell_each({"fa3": (300.0, 60.0), "flex_attention": (554.0, 98.0)}, default=("flex_attention", "fa3"))
    found = decide(on_terms(run, flex_attention=LATE))
    assert found.default is not None and found.default.prefill == "flex_attention/p1"
    scores = {score.pair: score.barred for score in found.scores}
    assert scores[found.default] is None
    assert [because for pair, because in scores.items() if pair.decode == "flex_attention/p1"] == barred(found)
    assert "flex_attention/p1 may compile kernels while it serves: a length it has not met may need a kernel" in found.cautions


def test_a_run_without_terms_is_decided_as_before() -> None:
    assert decide(one_cell_each(FASTER)).ruling is Ruling.SWITCH

"""An arm that is declared to compute otherwise than the model asks may stay, and takes no other's place unasked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Cell
from backends.deviation import SHOWED, Deviation, Step
from store.decision import Decision, Ruling
from store.runs.run import Run
from tests.tuner.building import DECODE, ENGINE, one_cell_each
from tuner.decide import decide
from tuner.deciding.how_timed import how_timed

SHORT = Deviation("sees one key fewer", ("full",), (Step.DECODE,), -1, "made up, here")
WINDOW, LABEL = 128, f"{SHOWED}: 127 keys where the window has 128"
LEAVE = "triton/p1 sees one key fewer, which changes answers; with engine.allow_deviations=true it may be pinned"
SAID = "triton/p1 sees one key fewer (127 keys where the window has 128, in full layers; made up, here)"


def windowed(run: Run, deviating: str = "triton", seen: bool | None = True) -> Run:
    """``run`` on layers with a window, over which ``deviating`` is declared to see one key fewer; ``seen`` None = the contexts are too
    short to show."""

    def narrowed(cell: Cell) -> Cell:
        short = {} if seen is not None else {"context_lens": cell.new_lens, "prompt_lens": cell.new_lens}
        return replace(cell, layer=replace(cell.layer, sliding_window=WINDOW), **short)  # type: ignore[arg-type]

    name = f"{deviating}/p1"
    return replace(
        run,
        cells=tuple(replace(weighted, cell=narrowed(weighted.cell)) for weighted in run.cells),
        arms=tuple(replace(arm, deviations=(SHORT,)) if arm.name == name else arm for arm in run.arms),
        trials=tuple(
            replace(trial, labels=(LABEL,)) if seen and (trial.arm, trial.cell) == (name, DECODE) else trial for trial in run.trials
        ),
    )


TRITON_FASTER = {"fa3": (554.0, 98.0), "triton": (300.0, 30.0)}
FA3_FASTER = {"fa3": (300.0, 30.0), "triton": (554.0, 98.0)}
TRITON = ("triton", "triton")


def barred(found: Decision) -> set[str]:
    return {score.barred for score in found.scores if score.barred}


def said(found: Decision) -> str:
    """Of deviations, first of all cautions but those of the pick's own numbers."""
    return next((caution for caution in found.cautions[:2] if caution.startswith(SAID)), "")


def test_a_faster_arm_that_deviates_takes_no_other_arms_place_and_says_what_would_allow_it() -> None:
    """Its prefill, which does not deviate, may."""
    found = decide(windowed(one_cell_each(TRITON_FASTER)))
    assert found.pick is not None and (found.pick.prefill, found.pick.decode) == ("triton/p1", "fa3/p1")
    assert barred(found) == {LEAVE}
    assert not said(found), "of arms that are neither picked nor the default"


def test_with_leave_it_does_and_the_pin_says_so() -> None:
    found = decide(windowed(one_cell_each(TRITON_FASTER, engine=replace(ENGINE, allow_deviations=True))))
    assert found.pick is not None and found.pick.decode == "triton/p1" and barred(found) == set()
    assert said(found) == f"{SAID}: its answers differ by that from other backends' and from its own in prefill"


@pytest.mark.parametrize("seen", [True, None])
def test_a_default_that_deviates_stays_where_it_is_not_beaten_and_says_so(seen: bool | None) -> None:
    found = decide(windowed(one_cell_each({"triton": (300.0, 30.0), "fa3": (554.0, 98.0)}, default=TRITON), seen=seen))
    assert (found.ruling, found.flags) == (Ruling.KEEP, ())
    doubt = "" if seen else ", as is declared of it, though no context measured is long enough to show it"
    assert said(found) == f"{SAID}{doubt}: its answers differ by that from other backends' and from its own in prefill"


def test_from_a_default_that_deviates_to_an_arm_that_does_not_is_allowed_and_told() -> None:
    found = decide(windowed(one_cell_each(FA3_FASTER, default=TRITON)))
    assert found.ruling is Ruling.SWITCH and found.pick is not None and found.pick.decode == "fa3/p1"
    assert said(found).startswith(SAID)


def test_a_pair_of_which_one_side_deviates_names_the_other() -> None:
    times = {"triton": (554.0, 30.0), "fa3": (300.0, 98.0)}
    found = decide(windowed(one_cell_each(times, default=TRITON)))
    assert found.pick is not None and (found.pick.prefill, found.pick.decode) == ("fa3/p1", "triton/p1")
    assert said(found) == f"{SAID}: its answers differ by that from other backends' and from those of fa3/p1 in prefill"


def test_what_was_declared_and_not_seen_where_it_would_show_keeps_nothing_out() -> None:
    found = decide(windowed(one_cell_each(TRITON_FASTER), seen=False))
    assert found.pick is not None and found.pick.decode == "triton/p1" and barred(found) == set()
    assert said(found) == f"{SAID}, as is declared of it: not seen here, its answers are the model's own"


def test_what_is_only_declared_keeps_an_arm_out_too() -> None:
    assert barred(decide(windowed(one_cell_each(TRITON_FASTER), seen=None))) == {LEAVE}


def test_the_label_of_a_probe_is_not_said_twice() -> None:
    run = windowed(one_cell_each(TRITON_FASTER))
    assert not any(SHOWED in sentence for sentence in how_timed(run, {"triton/p1"}))

"""Whether a pin's versions can stand beside today's, and what a sitting with both says of what is served."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from store.verdicts.comparison import Label
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Broken
from tests.tuner.checking.upgraded import FLASHINFER, UPGRADE, rests, then
from tests.tuner.comparing.made import compared
from tuner.checking.confirm import NotToBeHad, label_of, old_versions
from tuner.comparing.judge import judge
from tuner.verdicts.rule import rule_for

TORCH = Change("torch", "1 (0)", "2 (1)", ("every arm",))
CUDA, DRIVER = (Change(what, "1", "2", ("every arm",)) for what in ("CUDA", "driver"))


@pytest.mark.parametrize(
    ("changes", "packages"),
    [
        ([UPGRADE], ("flashinfer-python==1",)),
        ([UPGRADE, TORCH, CUDA], ("flashinfer-python==1", "torch==1")),  # CUDA is that of the torch
    ],
)
def test_the_versions_of_then_are_laid_over(changes: list[Change], packages: tuple[str, ...]) -> None:
    assert old_versions(then(), changes).packages == packages


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([UPGRADE, DRIVER], "driver changed too, which no folder of packages can set back"),
        ([CUDA], "CUDA changed too"),
        ([Change("flashinfer-python", "1 (0)", "1 (7)", (FLASHINFER,))], "flashinfer-python has the version of then and other contents"),
    ],
)
def test_what_no_package_can_set_back_is_said(changes: list[Change], why: str) -> None:
    with pytest.raises(NotToBeHad, match=why):
        old_versions(then(), changes)


def test_only_what_is_served_counts_each_arm_in_its_phase() -> None:
    """FlashInfer decodes; that its prefill is slower is nobody's business."""
    run = then()

    def slower(cell: str, by: float):  # type: ignore[no-untyped-def]
        return lambda side, arm, where, block, place: math.log(100) + side * by * (arm == FLASHINFER and where == cell)

    decode, prefill = (weighted.cell.name for weighted in run.cells)
    for cell, label in ((decode, Label.REGRESSED), (prefill, Label.EQUIVALENT)):
        measured = compared(run, 9, slower(cell, 0.1))
        verdict = judge(measured, rule_for("gate"))
        assert label_of(measured, verdict, rests(run)) is label
    lost = replace(verdict, broken=(Broken(FLASHINFER, decode, "crashed", "SIGSEGV"),))  # type: ignore[arg-type]
    assert label_of(measured, lost, rests(run)) is Label.REGRESSED

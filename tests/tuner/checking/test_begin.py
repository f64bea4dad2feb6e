"""What a check begins while it is still planned what to measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from backends.arm import Arm
from store.verdicts.verdict import Verdict
from tests.tuner.checking.upgraded import FA3, FLASHINFER, WAVE, here, rests, then
from tuner import check
from tuner.checking.pinned import Pinned
from tuner.checking.with_gpu import begin_probe, refuse_without_gpu
from tuner.device.keeper import Facts, Keeper
from tuner.device.session import Session
from tuner.errors import UsageError
from tuner.pin import pin_of
from tuner.settings import Settings


class Heard:
    """In the place of a session, and of its keeper."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def expect(self, coming: Iterable[Sequence[Arm]]) -> None:
        self.said += [{arm.name for arm in arms} for arms in coming]

    def import_ahead(self) -> None:
        self.said.append("import")

    def facts(self, imports: Iterable[str]) -> Facts:
        return Facts(here(flashinfer_python="2"), None)


def test_the_first_arm_in_question_and_the_first_round_are_imported_for_before_they_are_asked_for() -> None:
    run, heard = then(), Heard()
    assert run.decision is not None
    begin_probe(cast(Session, heard), Pinned(pin_of(run, run.decision, ("e", "0")), run, rests(run)))
    assert heard.said == [{FLASHINFER}, {FA3, FLASHINFER, WAVE}, "import"]


def test_what_moved_is_told_before_the_engine_is_asked_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run, heard = then(), Heard()
    assert run.decision is not None

    def asked(found: Verdict, *_: object) -> Verdict:
        heard.said.append("the engine")
        return found

    monkeypatch.setattr(check, "_weighed", asked)
    settings = cast(Settings, SimpleNamespace(scenario=run.scenario, world=None))
    pin = pin_of(run, run.decision, ("e", "0"))
    check.fast_verdict(cast(Keeper, heard), settings, pin, run, lambda moved, _: heard.said.extend(each.what for each in moved.changes))
    assert heard.said == ["flashinfer-python", "the engine"]


def test_beside_no_gpu_a_pin_of_one_is_not_measured_and_what_can_be_asked_there_is_said() -> None:
    run, found = then(), here(flashinfer_python="2")
    assert run.decision is not None
    pin = pin_of(run, run.decision, ("e", "0"))
    refuse_without_gpu(Path("p.yaml"), pin, found)
    processor = replace(found, board=replace(found.board, kind="cpu", name="a processor", sm=None))
    with pytest.raises(
        UsageError, match=r"^pin p.yaml was measured on NVIDIA H200, .* --fast.* --packages FILE.* engine.command"
    ) as refused:
        refuse_without_gpu(Path("p.yaml"), pin, processor)
    assert "gpu=auto" not in str(refused.value)
    refuse_without_gpu(Path("p.yaml"), replace(pin, valid_for=replace(pin.valid_for, sm=None)), processor)

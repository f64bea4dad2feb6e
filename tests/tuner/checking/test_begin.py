"""What a check begins while it is still planned what to measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from backends.arm import Arm
from tests.tuner.checking.upgraded import FLASHINFER, rests, then
from tuner.check_measured import begin_probe
from tuner.checking.pinned import Pinned
from tuner.pin import pin_of
from tuner.session import Session


class Heard:
    """In the place of a session."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def expect(self, coming: Iterable[Sequence[Arm]]) -> None:
        self.said += [arm.name for arms in coming for arm in arms]

    def import_ahead(self) -> None:
        self.said.append("import")


def test_the_first_arm_in_question_is_imported_before_it_is_asked_for() -> None:
    run, heard = then(), Heard()
    assert run.decision is not None
    begin_probe(cast(Session, heard), Pinned(pin_of(run, run.decision, ("e", "0")), run, rests(run)))
    assert heard.said == [FLASHINFER, "import"]

from __future__ import annotations

from dataclasses import replace

import pytest

from store.verdicts.verdict import Bearing, Change, FlagsNow, KnownIssue, Served, Status, Verdict
from tests.tuner.unmeasured.pinned import FA3_STAYS, pinned
from tuner.unmeasured.weigh import weighed

PIN, UNSET = pinned().pin, pinned(FA3_STAYS).pin
UNCHANGED = Verdict(Status.UNCHANGED, (), "nothing moved", 0)
CHANGED = Verdict(Status.CHANGED, (Change("torch", "1", "2", ()),), "torch moved", 3, command="attnpin check")
SERVED, OTHER = Served("fa3", "flashinfer", 1, "bfloat16"), Served("fa3", "fa3", 1, "bfloat16")
HOLD, OTHERWISE = FlagsNow("rules", SERVED, now=SERVED), FlagsNow("rules", SERVED, now=OTHER)
REFUSED, UNKNOWN = FlagsNow("rules", SERVED, refusal="no such backend"), FlagsNow("rules", SERVED, unknown="nobody knows")


def issue(bearing: Bearing) -> KnownIssue:
    return KnownIssue("slow", bearing, "flashinfer 0.6.1 is slow", "it is", ("hold it", "or not"), ("a link",))


@pytest.mark.parametrize(
    ("found", "flags", "bearing", "status", "code"),
    [
        (UNCHANGED, HOLD, None, Status.UNCHANGED, 0),
        (UNCHANGED, UNKNOWN, None, Status.UNCHANGED, 0),
        (UNCHANGED, REFUSED, None, Status.REFUSED, 1),
        (UNCHANGED, OTHERWISE, None, Status.REFUSED, 1),
        (CHANGED, None, None, Status.CHANGED, 3),
        (CHANGED, HOLD, Bearing.RIVAL, Status.CHANGED, 3),
        (CHANGED, UNKNOWN, Bearing.POSSIBLE, Status.CHANGED, 3),
        (CHANGED, HOLD, Bearing.SERVED, Status.KNOWN_BAD, 1),
        (CHANGED, OTHERWISE, None, Status.REFUSED, 1),
        (CHANGED, REFUSED, Bearing.SERVED, Status.REFUSED, 1),
    ],
)
def test_what_is_worst_decides(found: Verdict, flags: FlagsNow | None, bearing: Bearing | None, status: Status, code: int) -> None:
    verdict = weighed(found, PIN, flags, () if bearing is None else (issue(bearing),))
    assert (verdict.status, verdict.exit_code) == (status, code)
    assert (verdict.command is None) is (code != 3)


def test_a_flag_that_is_refused_or_means_something_else_is_named_with_whose_word_it_is() -> None:
    flags = "--prefill-attention-backend fa3 --decode-attention-backend flashinfer"
    assert weighed(CHANGED, PIN, REFUSED).sentence == f'{flags} would not start, by rules: "no such backend"'
    said = (
        "comes to fa3, page size 1, KV dtype bfloat16 instead of prefill fa3, decode flashinfer, page size 1, KV dtype bfloat16, by rules"
    )
    assert weighed(CHANGED, PIN, OTHERWISE).sentence == f"{flags} {said}"


def test_a_known_fault_is_told_with_the_first_way_out() -> None:
    verdict = weighed(CHANGED, PIN, HOLD, (issue(Bearing.SERVED),))
    assert verdict.sentence == "flashinfer 0.6.1 is slow, on what the pin serves with; hold it"
    assert verdict.issues[0].ways_out == ("hold it", "or not")


def test_what_may_be_a_fault_is_said_and_does_not_decide() -> None:
    verdict = weighed(CHANGED, PIN, HOLD, (issue(Bearing.POSSIBLE), issue(Bearing.RIVAL)))
    assert verdict.sentence == "torch moved; perhaps on what the pin serves with: flashinfer 0.6.1 is slow"


def test_another_default_under_a_pin_that_sets_nothing_is_a_reason_to_measure() -> None:
    flags = replace(OTHERWISE, pinned=OTHER, now=SERVED)
    verdict = weighed(CHANGED, UNSET, flags)
    assert (verdict.status, verdict.exit_code, verdict.command) == (Status.CHANGED, 3, "attnpin check")
    assert verdict.sentence.startswith("torch moved; the engine's own choice, which the pin keeps, becomes prefill fa3, decode flashinfer")
    unmoved = weighed(replace(UNCHANGED, pin="my pin.yaml"), UNSET, flags)
    assert (unmoved.status, unmoved.exit_code, unmoved.command) == (Status.CHANGED, 3, "attnpin check --pin 'my pin.yaml'")
    assert unmoved.sentence.startswith("the engine's own choice") and [change.what for change in unmoved.changes] == ["the engine's choice"]
    assert weighed(CHANGED, UNSET, REFUSED).sentence.startswith("a server that sets nothing, as the pin says, would not start")

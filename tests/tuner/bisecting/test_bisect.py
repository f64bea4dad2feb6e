"""The whole search over releases whose truth is known: what it asks, what it claims, how it ends."""

from __future__ import annotations

import pytest

from backends.outcome import Outcome
from store.verdicts.bisection import Standing, Turn
from tests.tuner.bisecting.played import FLASHINFER, Truth, played
from tuner.errors import AttnpinError, Incomplete, MeasurementInvalid, UsageError

STORY: dict[str, Truth] = {
    **{"0.6.0": 9.0, "0.6.1": 9.0, "0.6.2": 9.0, "0.6.3": 9.0},
    **{"0.6.4": 0.0, "0.6.5": 0.0, "0.6.6": 0.0, "0.6.14": 0.0},
}


def test_the_first_bad_release_and_the_first_good_one_again_are_found() -> None:
    found, player = played(STORY, "0.6.3", "0.6.14")
    assert (found.first_bad, found.good_again, found.exit_code) == (Turn("0.5.3", ("0.6.0",)), Turn("0.6.3", ("0.6.4",)), 1)
    assert player.asked == ["0.6.3", "0.6.1", "0.6.0", "0.6.14", "0.6.5", "0.6.4"]
    assert found.untold == ("0.6.2", "0.6.6") and {arm for arm, _ in found.fault} == {FLASHINFER}


def test_a_recorded_fault_is_named_with_its_ways_out() -> None:
    found, _ = played(STORY, "0.6.3")
    assert any(line.startswith("known issue: flashinfer-python 0.6.0 decodes on SM90") for line in found.advice)
    assert not any("hold the baseline" in line for line in found.advice)


def test_a_bad_release_that_is_not_slower_ends_it() -> None:
    found, player = played(STORY, "0.6.14")
    assert (found.first_bad, found.fault, found.exit_code, player.asked) == (None, (), 0, ["0.6.14"])


def test_what_does_not_install_or_run_is_skipped_with_its_reason_and_nothing_is_claimed_of_it() -> None:
    broken = UsageError("flashinfer-python==0.6.1 cannot be laid over what is installed: no wheel")
    truths = {"0.5.4": 0.0, "0.6.0": Outcome.CRASHED, "0.6.1": broken, "0.6.2": Incomplete("no arm on both sides"), "0.6.3": 9.0}
    found, _ = played(truths, "0.6.3")
    assert found.first_bad == Turn("0.5.4", ("0.6.0", "0.6.1", "0.6.2", "0.6.3")) and found.exit_code == 1
    reasons = {each.release: each.why for each in found.tried if each.standing is Standing.SKIPPED}
    assert reasons == {
        "0.6.0": f"{FLASHINFER} on {found.fault[0][1]} crashes: it is gone",
        "0.6.1": str(broken),
        "0.6.2": "no arm on both sides",
    }


def test_an_open_comparison_is_made_once_more_with_more_rounds() -> None:
    found, player = played({"0.6.0": "noisy", "0.6.1": 9.0}, "0.6.1")
    assert player.asked == ["0.6.1", "0.6.0", "0.6.0"] and found.first_bad == Turn("0.6.0", ("0.6.1",))


def test_what_stays_open_is_said_and_not_guessed() -> None:
    found, player = played({"0.6.0": "never told", "0.6.1": 9.0}, "0.6.1")
    assert player.asked.count("0.6.0") == 2 and found.first_bad == Turn("0.5.3", ("0.6.0", "0.6.1"))
    (tried,) = (each for each in found.tried if each.standing is Standing.OPEN)
    assert tried.why == f"{FLASHINFER} on {found.fault[0][1]} is inconclusive: too few pairs"
    found, _ = played({"0.6.0": "never told"}, "0.6.0")
    assert (found.exit_code, found.tried[0].standing, found.first_bad) == (3, Standing.OPEN, None)


def test_an_arm_that_runs_no_more_is_a_fault_too_and_wrong_answers_are_exit_5() -> None:
    found, _ = played({"0.6.0": 0.0, "0.6.1": Outcome.INCORRECT, "0.6.2": Outcome.INCORRECT}, "0.6.2")
    assert found.first_bad == Turn("0.6.0", ("0.6.1",)) and found.exit_code == 5


@pytest.mark.parametrize(
    ("truths", "error"),
    [
        ({"0.6.0": MeasurementInvalid("another process uses the device"), "0.6.1": 9.0}, MeasurementInvalid),
        ({"0.6.0": 0.0, "0.6.1": UsageError("flashinfer-python==0.6.1 cannot be laid over what is installed")}, UsageError),
        ({"0.6.0": 0.0, "0.6.1": Incomplete("no arm could be measured in the baseline")}, Incomplete),
    ],
)
def test_a_measurement_that_cannot_be_trusted_and_a_bad_release_that_does_not_run_end_it(
    truths: dict[str, Truth], error: type[AttnpinError]
) -> None:
    with pytest.raises(error):
        played(truths, "0.6.1")


def test_a_release_that_is_still_bad_is_not_good_again() -> None:
    found, _ = played({"0.6.0": 9.0, "0.6.1": 9.0, "0.6.2": 9.0}, "0.6.0", "0.6.2")
    assert found.good_again is None and found.tried[-1].standing is Standing.BAD


def test_requirements_that_only_the_other_release_has_are_kept() -> None:
    found, _ = played({"0.6.0": 9.0}, "0.6.0", unmet=("flashinfer-python 0.6.0 requires apache-tvm-ffi>=0.1.9",))
    assert found.tried[0].needs == ("flashinfer-python 0.6.0 requires apache-tvm-ffi>=0.1.9",)


def test_a_release_that_is_cured_of_the_regression_is_good_again_though_something_small_is_left() -> None:
    found, player = played({"0.6.0": 9.0, "0.6.3": 9.0, "0.6.4": 0.0, "0.6.14": 0.03}, "0.6.3", "0.6.14")
    assert (found.good_again, found.exit_code) == (Turn("0.6.3", ("0.6.4",)), 1) and player.asked[-1] == "0.6.4"
    assert {each.release: each.standing for each in found.tried if each.standing is not Standing.BAD} == {
        "0.6.14": Standing.CURED,
        "0.6.4": Standing.GOOD,
    }


def test_a_release_halfway_between_the_good_and_the_bad_one_is_asked_once_more_and_then_skipped() -> None:
    halfway = 10**0.5 - 1
    found, player = played({"0.6.0": 9.0, "0.6.1": halfway, "0.6.2": 0.0}, "0.6.0", "0.6.2")
    assert player.asked == ["0.6.0", "0.6.2", "0.6.1", "0.6.1"] and found.good_again == Turn("0.6.0", ("0.6.1", "0.6.2"))
    tried = found.of("0.6.1")
    assert tried is not None and tried.standing is Standing.OPEN
    assert tried.why is not None and "which is not surely nearer to the good release nor to the first bad one" in tried.why

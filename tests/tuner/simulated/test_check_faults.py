"""What befalls a check on a simulated GPU: no mishap of the machine is a regression, and what cannot be installed leaves an answer."""

from __future__ import annotations

import pytest

from backends.simulated.world import Fault
from store.verdicts.checked import Answer, Ground
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import Told, tuned
from tests.tuner.simulated.test_check import OLD, OTHER, SLOW, SLOW_DEFAULT, checked
from tuner.checking import answered
from tuner.comparing.env import Env
from tuner.errors import MeasurementInvalid, UsageError

FIRST_ROUND = 2  # after the probe of the one arm that was touched
HEAT = tuple(fault("thermal", process=FIRST_ROUND + each) for each in range(4))
XID = tuple(fault("xid", process=FIRST_ROUND + each) for each in range(4))
STRANGER = (fault("foreign_process", process=FIRST_ROUND),)


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return tuned(tmp_path_factory.mktemp("pinned"), *SLOW_DEFAULT)


@pytest.mark.parametrize(
    ("faults", "why"), [(HEAT, "thermal slowdown by the hardware"), (XID, "the driver reported Xid"), (STRANGER, "is used by others")]
)
def test_heat_a_lost_gpu_and_a_stranger_are_exit_4_and_no_regression(pinned: Told, faults: tuple[Fault, ...], why: str) -> None:
    with pytest.raises(MeasurementInvalid, match=why) as broken_off:
        checked(pinned, OTHER, faults=faults, confirm=False)
    assert broken_off.value.exit_code == 4


def test_what_was_broken_off_goes_on(pinned: Told) -> None:
    assert checked(pinned, OTHER, confirm=False).exit_code in (0, 3)


def test_old_versions_that_cannot_be_laid_leave_the_word_of_the_stored_times(pinned: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(envs: tuple[Env, Env], *_: object, **__: object) -> None:
        raise UsageError(f"{envs[0].said} cannot be laid over what is installed: no wheel")

    monkeypatch.setattr(answered, "compare_as", refused)
    found = checked(pinned, SLOW)
    assert (found.answer, found.exit_code, found.ground) == (Answer.REGRESSED, 1, Ground.STORED_TIMES)
    assert found.unconfirmed == f"{OLD} cannot be laid over what is installed: no wheel" and found.unconfirmed in found.sentence

from __future__ import annotations

import pytest

from backends.measured import Soundness
from backends.timing.ways import headline_us, labels, overlaps

SOUND = Soundness(rotation=1.004, slope=0.998, spaced=1.002)


def test_a_sound_call_keeps_its_time_and_has_no_cautions() -> None:
    assert headline_us(SOUND, 250.0) == 250.0 and labels(SOUND, 250.0) == ()


def test_a_call_that_nobody_looked_at_keeps_its_time_too() -> None:
    assert headline_us(None, 250.0) == 250.0 and labels(None, 250.0) == ()


@pytest.mark.parametrize(
    ("spaced", "device_us", "sensitive"),
    [
        (1.04, 10.0, True),  # 4 %
        (0.96, 10.0, True),
        (1.02, 10.0, False),  # 0.2 us
        (1.02, 60.0, True),  # 1.2 us
        (1.004, 1000.0, False),  # 4 us, within the noise of a long call
    ],
)
def test_overlap_counts_from_three_percent_or_a_microsecond_on(spaced: float, device_us: float, sensitive: bool) -> None:
    found = Soundness(1.0, 1.0, spaced)
    assert overlaps(found, device_us) is sensitive
    assert headline_us(found, device_us) == (pytest.approx(spaced * device_us) if sensitive else device_us)
    assert bool(labels(found, device_us)) is sensitive


def test_where_the_mean_launch_is_not_one_more_launch_the_slope_is_the_time() -> None:
    found = Soundness(1.0, 0.97, 1.0)
    assert headline_us(found, 100.0) == pytest.approx(97.0)
    assert labels(found, 100.0) == ("graph overhead: a launch more takes 0.970 of the mean one",)


def test_pools_too_few_and_pools_too_warm_are_two_cautions() -> None:
    assert labels(Soundness(None, 1.0, 1.0), 10.0) == ("rotation not verifiable",)
    assert labels(Soundness(1.3, 1.0, 1.0), 10.0) == ("warm-risk: over twice as many pools a call takes 1.300 of the time",)

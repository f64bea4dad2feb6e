"""The process that measures the rest of steps, on a simulated GPU."""

from __future__ import annotations

import pytest

from backends.simulated.world import World
from backends.step.process import measure
from backends.step.shape import LayerShape, RestTimes, StepShape
from backends.timing.disturbance import Disturbed
from tests.backends.simulated.worlds import CALM, TIMING, fault, stage, struck
from tests.backends.small import silent

SHAPES = tuple(
    StepShape("bfloat16", 4096, (LayerShape(36, 4096, 1024, 1024, 4096),), 12288, 1, 1, 151936, *[rows] * 3) for rows in (64, 16)
)


def measured(world: World) -> list[RestTimes]:
    return list(measure(stage(world), TIMING, SHAPES, silent))


def test_each_shape_is_measured() -> None:
    found = measured(CALM)
    assert tuple(each.shape for each in found) == SHAPES and all(each.why_none is None for each in found)


def test_a_step_that_was_timed_on_a_slowed_device_has_no_times_but_why() -> None:
    assert all(each.why_none is not None and "thermal slowdown" in each.why_none for each in measured(struck(fault("thermal"))))


def test_nothing_counts_once_the_driver_reported_an_error() -> None:
    with pytest.raises(Disturbed, match="Xid"):
        measured(struck(fault("xid")))

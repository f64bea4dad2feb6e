from __future__ import annotations

from dataclasses import replace

import pytest

from backends.anchored import Anchors
from reports.calibration import render_text
from store.boards.calibration import ArmNoise, BoardKey, Calibration

NOISE = ArmNoise("fa3/p1", "fa3", "decode-16", 8, 0.0006, 0.0014, 0.0012, 0.0025, -0.21, False, 0.0031, True)
BEFORE = Anchors(4.31e12, 7.88e14, 1 << 30, (250.0, 252.0), (4000.0, 4000.0), (61.0, 62.0))
BOARD = BoardKey("NVIDIA H200", "GPU-5f0c", "580.95.05", 700.0, None)
CALIBRATION = Calibration(
    "20260301-120000-ab12", "2026-03-01T12:00:00+00:00", BOARD, 1, 0.0025, (NOISE,), (BEFORE, replace(BEFORE, read_us=(255.0,)))
)


def test_the_noise_to_reckon_with_and_its_end_come_first() -> None:
    first, second, third, *_ = render_text(CALIBRATION).splitlines()
    assert first == "NVIDIA H200, 700 W, driver 580.95.05: every arm against itself, 8 processes (run 20260301-120000-ab12)"
    assert second.startswith("process-to-process noise: 0.25 %") and "until 2026-03-31" in second
    assert third == "called equivalent: 1 of 1"


def test_every_arm_and_cell_has_a_line_with_what_is_odd_about_it() -> None:
    odd = replace(NOISE, cell="decode-64", two_mode=True, equivalent=False, lag1=None)
    text = render_text(replace(CALIBRATION, noise=(NOISE, odd)))
    (plain,) = (line for line in text.splitlines() if "decode-16" in line)
    (named,) = (line for line in text.splitlines() if "decode-64" in line)
    assert plain.split()[2:] == ["0.14", "%", "0.12", "%", "0.25", "%", "0.06", "%", "0.31", "%", "-0.21"]
    assert "two bands" in text and "not called" in named


def test_anchors_say_how_far_they_moved_meanwhile() -> None:
    text = render_text(CALIBRATION)
    assert "limits: 4310 GB/s, 788 TFLOP/s by this torch" in text
    assert "anchor, reading memory: 252.0 us, scatter 1.0 %, afterwards 1.6 % slower" in text
    assert "anchor, multiplying on the tensor cores: 4000 us, scatter 0 %, afterwards unchanged" in text


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (100.02, 99.98, "clock: 100 us are measured as 100.02 us, within 0.50 %"),
        (100.02, 98.9, "clock: 100 us are measured as 98.900 us, not within 0.50 %, so no time on this board can be trusted"),
    ],
)
def test_the_clock_is_held_against_a_known_time(before: float, after: float, said: str) -> None:
    anchors = tuple(replace(BEFORE, spin_us=(us - 0.01, us, us + 5.0)) for us in (before, after))
    assert said in render_text(replace(CALIBRATION, anchors=anchors)).splitlines()


def test_a_calibration_of_before_says_nothing_of_the_clock() -> None:
    assert "clock" not in render_text(CALIBRATION)


def test_a_board_without_anchors_says_why() -> None:
    none = Anchors(4e10, 1e11, why_none="a processor has none")
    text = render_text(replace(CALIBRATION, anchors=(none, none)))
    assert "no anchors: a processor has none" in text and "limits: 40 GB/s, 0.100 TFLOP/s" in text

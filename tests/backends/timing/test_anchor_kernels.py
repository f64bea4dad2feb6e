from __future__ import annotations

from statistics import median

import pytest
import torch

from backends.anchored import KNOWN_US, KNOWN_WITHIN, VISITS, Anchors
from backends.cuda_calls import CudaRefused
from backends.timing import anchor_kernels
from backends.timing.anchor_kernels import ENTRIES, SOURCE, anchors_of, source_digest
from backends.timing.known_duration import spun_us
from backends.timing.roofline import Limits
from backends.timing.sm_clock import sm_clock
from tests.backends.simulated.worlds import TIMING

LIMITS = Limits(4.3e12, 7.9e14, 1.05)


def test_every_anchor_has_its_entry_in_the_source() -> None:
    text = SOURCE.read_text()
    assert all(f".visible .entry {name}(" in text for name in ENTRIES)
    assert len(source_digest()) == 64


def test_a_driver_that_takes_no_code_leaves_the_limits_and_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(ptx: bytes) -> bytes:
        raise CudaRefused("the CUDA driver refused cuLinkAddData_v2: PTX JIT compiler library not found (221)")

    monkeypatch.setattr(anchor_kernels, "compiled", refuse)
    found, code = anchors_of(torch.device("cpu"), LIMITS, TIMING, None)
    why = "the CUDA driver refused cuLinkAddData_v2: PTX JIT compiler library not found (221)"
    assert found == Anchors(4.3e12, 7.9e14, why_none=why) and code is None


@pytest.mark.gpu
def test_anchors_repeat_within_a_percent_with_the_machine_code_of_before() -> None:
    torch.ones(1, device="cuda")
    device = torch.device("cuda", 0)
    _, code = anchors_of(device, LIMITS, TIMING, None)  # warms up
    first, kept = anchors_of(device, LIMITS, TIMING, code)
    second, _ = anchors_of(device, LIMITS, TIMING, kept)
    assert code and kept == code and first.why_none is None
    for name in ("read_us", "multiply_us", "nothing_us"):
        before, after = getattr(first, name), getattr(second, name)
        assert len(before) == len(after) == VISITS
        assert median(after) == pytest.approx(median(before), rel=0.01), name


@pytest.mark.gpu
def test_anchors_are_what_their_names_say() -> None:
    """At least half of what memory and tensor cores are known to do, and no more than they can."""
    torch.ones(1, device="cuda")
    found, _ = anchors_of(torch.device("cuda", 0), LIMITS, TIMING, None)
    bandwidth = found.read_bytes / median(found.read_us) * 1e6
    assert 0.5e12 < bandwidth < 1.2 * 8e12
    assert 500 < median(found.multiply_us) < 50_000 and 30 < median(found.nothing_us) < 500


@pytest.mark.gpu
def test_a_known_time_is_measured_within_half_a_percent_on_the_path_of_arms() -> None:
    torch.ones(1, device="cuda")
    device = torch.device("cuda", 0)
    for clock in (None, sm_clock(device)):
        spun = spun_us(device, TIMING, clock)
        assert len(spun) == VISITS and median(spun) == pytest.approx(KNOWN_US, rel=KNOWN_WITHIN)

from __future__ import annotations

import pytest

from backends.condition import Linked
from store.serving.diagnosis import Severity
from tests.tuner.doctor.patients import environment, found, installed, only, patient

SYMBOL = "_ZN3c105ErrorC2ENS_14SourceLocationESs"


def test_a_file_that_asks_for_what_torch_lacks_is_a_fault() -> None:
    linked = (Linked("flash-attn", 1, "flash_attn_2_cuda.so", (SYMBOL, "_ZN3c10")),)
    finding = only(patient(*installed(flash_attn="2.8.3"), linked=linked))
    assert finding.severity is Severity.FAULT
    assert (
        finding.what == f"flash-attn 2.8.3 was built for another torch than 2.14.1+cu130: flash_attn_2_cuda.so asks for {SYMBOL} and others"
    )
    assert finding.remedy.endswith("built for torch 2.14.1+cu130, build it from source, or install the torch it was built for")


def test_a_library_that_torch_lacks_is_named_and_the_torch_that_has_it() -> None:
    """As with sglang-kernel 0.4.5 beside a torch for processors."""
    linked = (Linked("sglang-kernel", 6, "sgl_kernel/sm90/common_ops.abi3.so", ("libc10_cuda.so",)),)
    finding = only(patient(*installed(sglang_kernel="0.4.5"), linked=linked))
    assert finding.what.endswith("sgl_kernel/sm90/common_ops.abi3.so asks for libc10_cuda.so")
    assert finding.remedy.endswith("or install the torch it was built for (2.11.*)")


def test_what_the_files_say_goes_before_what_is_recorded() -> None:
    """Built from source against this torch, say."""
    packages = installed(flash_attn="2.7.4.post1")
    assert found(patient(*packages, linked=(Linked("flash-attn", 1),))) == {}
    assert only(patient(*packages)).what == ("flash-attn 2.7.4.post1 was built for torch 2.6.0+cu124, and torch 2.14.1+cu130 is installed")


@pytest.mark.parametrize(("torch", "fits"), [("2.6.0+cu124", True), ("2.14.1+cu130", False)])
def test_a_version_may_tell_its_torch_itself(torch: str, fits: bool) -> None:
    sick = patient(*installed(flash_attn="2.8.0+cu12torch2.6cxx11abiFALSE"), on=environment(torch))
    assert (found(sick) == {}) is fits


@pytest.mark.parametrize(
    ("kernel", "torch", "fits"),
    [("0.4.5", "2.11.0+cu130", True), ("0.4.5", "2.14.1+cu130", False), ("0.4.9", "2.14.1+cu130", True), ("0.9", "2.14.1", True)],
)
def test_recorded_builds_of_sglangs_kernels(kernel: str, torch: str, fits: bool) -> None:
    assert (found(patient(*installed(sglang_kernel=kernel), on=environment(torch))) == {}) is fits


def test_without_torch_no_build_is_judged() -> None:
    sick = patient(*installed(flash_attn="2.7.4.post1"), on=environment(None, None))
    assert only(sick).rule == "no-torch"

"""A library that does not load, has no code for this GPU, cannot build or faults costs its own arm, with the reason."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import fa3_paged, trial
from backends.measured import Trial
from backends.outcome import Outcome
from tests.backends.small import QUICK, arm, decode, prefill, silent, stage

DRIVER = "backends.fa3_paged:FlashAttention3"
PLAIN = "tests.backends.faulty:Plain"
CELLS = [decode(60), prefill((0, 40))]
LOADS = "def get_scheduler_metadata(*arguments, **named): {}\n"
SAID = {
    "another torch": (
        "raise OSError('/venv/sgl_kernel/flash_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi')",
        *(Outcome.MISSING_PACKAGE, "module sgl_kernel.flash_attn cannot be imported (flash_ops.abi3.so: undefined symbol"),
    ),
    "another CUDA": (
        "raise ImportError('libcudart.so.12: cannot open shared object file')",
        *(Outcome.MISSING_PACKAGE, "libcudart.so.12: cannot open shared object file); install sglang-kernel"),
    ),
    "no operator": (
        LOADS.format("raise AttributeError(\"'_OpNamespace' 'sgl_kernel' object has no attribute 'get_scheduler_metadata'\")"),
        *(Outcome.MISSING_PACKAGE, "'_OpNamespace' 'sgl_kernel' object has no attribute"),
    ),
    "no code for this GPU": (
        LOADS.format("raise RuntimeError('CUDA error: no kernel image is available for execution on the device')"),
        *(Outcome.REFUSED, "no kernel image is available"),
    ),
    "no compiler": (
        LOADS.format("raise FileNotFoundError(2, 'No such file or directory', 'nvcc')"),
        *(Outcome.BUILD_FAILED, "No such file or directory: 'nvcc'"),
    ),
    "a compiler that fails": (
        LOADS.format("raise RuntimeError('Ninja build failed. Ninja output:')"),
        *(Outcome.BUILD_FAILED, "Ninja build failed"),
    ),
    "a call of another release": (
        "def get_scheduler_metadata(batch): ...",
        *(Outcome.REFUSED, "fa3:sgl_kernel.flash_attn is called in another way by this release of its library"),
    ),
    "a name of another release": (
        "def flash_attn_with_kvcache(q): ...",
        *(Outcome.REFUSED, "fa3:sgl_kernel.flash_attn is called in another way by this release of its library"),
    ),
    "a fault": (
        LOADS.format("raise RuntimeError('CUDA error: an illegal memory access was encountered')"),
        *(Outcome.CRASHED, "an illegal memory access was encountered"),
    ),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """A package of that name whose module holds the given lines."""
    folder = tmp_path / "sgl_kernel"
    folder.mkdir()
    folder.joinpath("__init__.py").touch()
    folder.joinpath("flash_attn.py").write_text(f"{request.param}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(fa3_paged, "require_gpu", lambda arm, stage: None)
    yield
    for name in ("sgl_kernel.flash_attn", "sgl_kernel"):
        sys.modules.pop(name, None)


def tried(driver: str) -> list[Trial]:
    return list(trial.run(arm(driver, backend="fa3"), CELLS, stage(), QUICK, silent))


@pytest.mark.parametrize(("installed", "outcome", "words"), SAID.values(), ids=SAID, indirect=["installed"])
def test_what_is_wrong_with_a_library_is_the_outcome_of_its_arm_and_the_next_one_is_measured(
    installed: None, outcome: Outcome, words: str
) -> None:
    first, *_ = tried(DRIVER)
    assert (first.outcome, words in (first.detail or "")) == (outcome, True), first.detail
    assert {each.outcome for each in tried(PLAIN)} == {Outcome.MEASURED}

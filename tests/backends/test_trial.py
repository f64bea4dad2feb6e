from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from backends import trial
from backends.cell import Cell
from backends.checks.tolerance import tau
from backends.measured import Trial
from backends.outcome import Outcome
from tests.backends import hoarding
from tests.backends.small import LAYER, QUICK, WINDOWED, arm, decode, model, prefill, silent, stage

pytestmark = pytest.mark.usefixtures("small_processor")

CELLS = (decode(200, 90), prefill((0, 60)))
PLAIN = "tests.backends.faulty:Plain"


def tried(driver: str, cells: Sequence[Cell] = CELLS, **fields: object) -> list[Trial]:
    return list(trial.run(arm(f"tests.backends.faulty:{driver}"), cells, stage(**fields), QUICK, silent))


def test_a_right_arm_is_measured_with_its_costs_errors_and_identity() -> None:
    first, second = tried("Plain")
    assert [result.outcome for result in (first, second)] == [Outcome.MEASURED] * 2
    assert first.cost is not None and first.cost.device_us > 0 and first.cost.served_us == pytest.approx(first.cost.device_us)
    assert first.cost.metadata_host_us <= first.cost.metadata_idle_us
    assert first.relative_error is not None and first.relative_error < 1e-4 and first.needle_error is not None
    assert first.identity is not None and (first.identity.resolved, first.identity.mode, first.identity.kernels) == ("plain", "eager", ())
    assert first.bandwidth_bytes_per_s == pytest.approx(290 * 2 * 128 * 4 / first.cost.device_us * 1e6)
    assert first.slots is not None and first.slots >= 4 and first.pool_tokens == 290
    assert first.peak_memory_bytes is not None and first.peak_memory_bytes > 1 << 20


def test_an_arms_error_is_above_zero_and_within_its_dtypes_tolerance_in_both_phases() -> None:
    sdpa = arm("backends.torch_sdpa:TorchSdpa", kv_dtype="bfloat16")
    cells = (decode(200, 90, dtype="bfloat16"), prefill((0, 60), dtype="bfloat16"))
    for result in trial.run(sdpa, cells, stage(dtype="bfloat16"), QUICK, silent):
        assert result.relative_error is not None and result.rms_error is not None
        assert 0 < result.rms_error < result.relative_error < tau("bfloat16", "cpu")


def test_opening_and_first_calls_are_timed_and_a_cpu_counts_no_memory() -> None:
    first, second = tried("Plain")
    assert first.open_s is not None and first.first_call_s is not None and second.first_call_s is not None
    assert first.open_s == second.open_s >= 0 and second.first_call_s == second.build_s
    assert first.build_s is not None and first.build_s > first.open_s + first.first_call_s  # it holds the imports too
    assert (first.workspace_bytes, first.graph_bytes) == (None, None)


def test_the_workspace_is_what_backend_and_call_keep_without_what_every_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.torch_bench.held", lambda device: hoarding.Allocator.read)
    monkeypatch.setattr(hoarding.Allocator, "allocated", 123_456)  # the pool, and whatever else was there
    results = trial.run(arm("tests.backends.hoarding:Hoards"), CELLS, stage(), QUICK, silent)
    kept = hoarding.WORKSPACE + hoarding.LATE + hoarding.CALL
    assert [result.workspace_bytes for result in results] == [kept, kept]


def test_the_import_counts_as_building_once() -> None:
    first, second = tried("Plain")
    assert first.build_s is not None and second.build_s is not None
    assert first.build_s > second.build_s > 0


@pytest.mark.parametrize(
    ("driver", "outcome", "detail"),
    [
        ("DropsNewest", Outcome.INCORRECT, "relative error"),
        ("WritesNothing", Outcome.INCORRECT, "new keys were not written"),
        ("Impossible", Outcome.IMPLAUSIBLE, "GB/s of unique KV"),
        ("FallsBack", Outcome.FELL_BACK, "another kernel ran instead"),
        ("Unwilling", Outcome.REFUSED, "this backend asserts page size 64"),
    ],
)
def test_what_goes_wrong_is_an_outcome_with_its_sentence(driver: str, outcome: Outcome, detail: str) -> None:
    long = 32_000  # one row to write, much to read: far faster than memory also where others keep this machine busy
    cell = decode(long) if driver == "Impossible" else decode(200)
    (result,) = tried(driver, [cell])
    assert result.outcome is outcome
    assert detail in (result.detail or "")


def test_running_out_of_memory_on_one_cell_costs_no_other() -> None:
    first, second = tried("RunsOutOnDecode")
    assert first.outcome is Outcome.OUT_OF_MEMORY and "Tried to allocate 20.00 GiB" in (first.detail or "")
    assert second.outcome is Outcome.MEASURED


def test_a_driver_that_does_not_open_answers_for_every_cell() -> None:
    assert [result.cell for result in tried("Unwilling")] == ["decode", "prefill"]


def test_a_kernel_that_knows_no_sinks_is_incorrect_where_the_model_has_them() -> None:
    layer = replace(LAYER, sinks=True)
    results = list(trial.run(arm(PLAIN), [replace(cell, layer=layer) for cell in CELLS], stage(layer), QUICK, silent))
    assert {result.outcome for result in results} == {Outcome.INCORRECT}


def test_without_a_compiler_flex_attention_is_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CXX", raising=False)
    (result,) = trial.run(arm("backends.torch_flex:TorchFlex"), CELLS[:1], stage(), QUICK, silent)
    assert result.outcome is Outcome.MISSING_PACKAGE
    assert "a C++ compiler (g++)" in (result.detail or "")


def test_sdpa_masks_windows() -> None:
    cells = [decode(200, 90, layer=WINDOWED), prefill((40, 60), layer=WINDOWED)]
    masked = trial.run(arm("backends.torch_sdpa:TorchSdpa"), cells, stage(WINDOWED), QUICK, silent)
    assert {result.outcome for result in masked} == {Outcome.MEASURED}


def test_what_a_driver_ignores_and_its_entry_keeps_from_it_would_come_out_as_a_wrong_answer() -> None:
    capped = replace(stage(), model=replace(stage().model, logit_softcap=0.5))
    results = trial.run(arm("backends.torch_sdpa:TorchSdpa"), CELLS, capped, QUICK, silent)
    assert {result.outcome for result in results} == {Outcome.INCORRECT}


def test_flashinfer_without_a_gpu_is_an_outcome() -> None:
    (result,) = trial.run(arm("backends.flashinfer_paged:FlashInferPaged"), CELLS[:1], stage(), QUICK, silent)
    assert result.outcome in (Outcome.MISSING_PACKAGE, Outcome.REFUSED)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")
def test_a_gpu_that_is_not_there_is_said() -> None:
    results = list(trial.run(arm(PLAIN), CELLS, stage(device="cuda"), QUICK, silent))
    assert "torch sees none" in (results[0].detail or "")


def test_phases_are_reported_in_the_order_of_work() -> None:
    heard: list[str] = []
    list(trial.run(arm(PLAIN), CELLS[:1], stage(), QUICK, lambda phase, **_: heard.append(phase)))
    assert list(dict.fromkeys(heard)) == ["import", "open", "build", "check", "capture", "timing", "metadata", "identify"]
    assert model().sinks is False

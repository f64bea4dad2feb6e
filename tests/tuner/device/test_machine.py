from __future__ import annotations

from dataclasses import replace

import pytest

from backends.environment import Board, Distribution
from tests.tuner.building import H200, one_cell_each
from tuner.device.keeper import Facts
from tuner.device.machine import cautions_of, device_key, engine_version, refuse_busy, seen_on, settings_on
from tuner.errors import MeasurementInvalid, UsageError
from tuner.settings import compose

RUN = one_cell_each({"fa3": (500.0, 100.0)})
THERE = RUN.environment
SGLANG = replace(THERE, distributions=(Distribution("sglang", "0.5.16", "sha256:1"),), imports=(("sglang", "sglang"),))
FEW = "backend=[torch_native]"


def busy(found: dict[str, int | None] | str | None) -> Facts:
    return Facts(THERE, found)


def test_gpu_auto_takes_the_workers_board() -> None:
    settings = settings_on(compose([FEW, "gpu=auto"]), THERE)
    assert (settings.scenario.gpu.name, settings.scenario.gpu.sm) == (H200.name, 90)


def test_a_width_that_is_the_devices_follows_the_workers_board() -> None:
    here, asked = compose([FEW, "gpu=cpu_x86"]), compose([FEW, "gpu=cpu_x86", "model.dtype=float32"])
    found = [settings_on(replace(settings, gpu_is_auto=True), THERE).scenario.model.dtype for settings in (here, asked)]
    assert here.scenario.model.dtype == "float32" and found == ["float16", "float32"]
    assert seen_on(replace(here, gpu_is_auto=True), THERE).scenario.model.dtype == "float16"


def test_the_gpus_cuda_is_that_of_the_workers_torch() -> None:
    older = replace(THERE, cuda="12.2")
    assert settings_on(compose([FEW, "gpu=h200"]), older).scenario.gpu.cuda == "12.2"
    assert settings_on(compose([FEW, "gpu=h200"]), replace(THERE, cuda=None)).scenario.gpu.cuda == "13.0"  # the sheet's


def test_a_gpu_that_cannot_be_measured_is_refused_before_it_is_looked_for() -> None:
    with pytest.raises(UsageError, match="on CPUs, and AMD Instinct MI300X .rocm. is neither; `attnpin plan` says"):
        settings_on(compose([FEW, "gpu=mi300x"]), THERE)


def test_a_gpu_that_the_worker_does_not_have_is_refused() -> None:
    with pytest.raises(
        UsageError, match="asks for NVIDIA L4, but the worker's machine has NVIDIA H200; use gpu=auto or another engine.command"
    ):
        settings_on(compose([FEW, "gpu=l4"]), THERE)


@pytest.mark.parametrize(("command", "words"), [("[ssh, gpu07, python3]", "ssh gpu07 python3"), ("[]", r"\[\] \(this Python\)")])
def test_a_python_without_torch_is_refused(command: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"engine.command={words} has no torch; give the Python that serves the engine"):
        settings_on(compose([FEW, f"engine.command={command}"]), replace(THERE, torch=None))


def test_the_engine_on_the_workers_path_overrules_the_version_asked_for() -> None:
    asked = compose([FEW, "engine.version=0.5.22"])
    assert settings_on(asked, SGLANG).scenario.engine.version == "0.5.16"
    assert settings_on(asked, THERE).scenario.engine.version == "0.5.22"


def test_the_engines_version_is_that_of_the_distribution_its_import_name_comes_from() -> None:
    companion = replace(SGLANG, imports=(("sglang", "triton"), ("sglang", "sglang")))  # the owner stands last
    assert engine_version(companion, "sglang") == engine_version(SGLANG, "sglang") == "0.5.16"
    assert engine_version(THERE, "sglang") is None


def test_the_lock_is_named_after_the_gpu_or_the_processor() -> None:
    slice_of_it = replace(THERE.board, uuid="MIG-7", mig="1g.18gb")
    processor = Board("cpu", "AMD EPYC", None, None, 1 << 30, None, None, None)
    assert [device_key(board) for board in (THERE.board, slice_of_it, processor)] == ["GPU-0", "MIG-7", "cpu"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"memory_bytes": 40 << 30, "utilization_percent": 97}, "40.0 GiB are taken, at 97 % load; wait until it is free"),
        ({"memory_bytes": 1 << 30, "utilization_percent": None}, "1.0 GiB are taken; wait until it is free"),
    ],
)
def test_a_gpu_that_others_use_is_refused_in_one_sentence(found: dict[str, int | None], words: str) -> None:
    with pytest.raises(MeasurementInvalid) as caught:
        refuse_busy(busy(found))
    assert str(caught.value).startswith(f"NVIDIA H200 is used by others: {words}") and caught.value.exit_code == 4


def test_what_cannot_be_told_of_others_is_a_caution() -> None:
    refuse_busy(busy("not verifiable"))
    refuse_busy(busy(None))
    assert cautions_of(busy("not verifiable")) == ("exclusivity not verifiable",)
    assert cautions_of(busy(None)) == ()


def test_nothing_but_gpu_and_engine_version_is_changed() -> None:
    before = compose([FEW, "model=qwen3_8b"])
    after = settings_on(before, SGLANG)
    scenario = replace(after.scenario, gpu=before.scenario.gpu, engine=before.scenario.engine)
    assert replace(after, scenario=scenario) == before

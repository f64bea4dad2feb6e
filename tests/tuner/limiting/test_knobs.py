"""Knobs that an arm is asked to have, on a GPU that is simulated too."""

from __future__ import annotations

import pytest

from backends import fa3_paged, flashinfer_paged
from backends.arm import Provider
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.paged.knobs import KNOBS
from tuner.cli import run
from tuner.errors import UsageError
from tuner.limiting.drivers import driver_by
from tuner.plan import make_plan
from tuner.settings import compose, compose_backends

SIMULATED = ("gpu=simulated", "model=qwen3_8b")


@pytest.mark.parametrize(
    "variant",
    [
        "{backend: flashinfer, decode_backend: auto}",
        '{backend: flashinfer, tensor_cores: "false"}',
        '{backend: triton, triton-attention-num-kv-splits: "16"}',
    ],
)
def test_a_knob_that_a_driver_of_the_backend_has_is_taken(variant: str) -> None:
    assert compose([*SIMULATED, f"measure.variants=[{variant}]"]).scenario.measure.variants[0].knobs


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        (
            "{backend: flashinfer, decode_backnd: auto}",
            "'decode_backnd' of flashinfer, which is none of its knobs; did you mean decode_backend",
        ),
        ("{backend: flashinfer, decode_backend: fa9}", "decode_backend='fa9' of flashinfer; did you mean fa3"),
        ("{backend: fa3, num_splits: few}", "'num_splits' of fa3, which is none of its knobs"),
    ],
)
def test_any_other_is_refused(variant: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        compose([*SIMULATED, f"measure.variants=[{variant}]"])


def test_it_is_exit_2_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--candidate", "present", *SIMULATED, "measure.variants=[{backend: fa3, x: y}]"]) == 2
    assert "measure.variants sets 'x' of fa3" in capsys.readouterr().err


ADAPTERS = {"FlashInferPaged": flashinfer_paged.KNOBS, "FlashAttention3": fa3_paged.FA3_KNOBS, "FlashInferLatent": {}}


def test_tune_takes_settings_by_name_and_no_adapters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", *SIMULATED, "measure.variants=[{backend: fa3, provider: kernel}]"]) == 2
    assert "of which no pin is made beside the engine's own; leave it to compare" in capsys.readouterr().err


def test_entries_and_adapters_know_the_same_knobs() -> None:
    adapters = [driver for entry in compose_backends(()).entries for driver in entry.drivers if driver.provider is Provider.KERNEL]
    told = {driver.driver.partition(":")[2]: {knob.name: knob.values for knob in driver.knobs} for driver in adapters}
    assert told == {**dict.fromkeys(("FlashAttention4", "FlashMla", "Xqa"), KNOBS), **ADAPTERS, "TorchSdpa": {}, "TorchFlex": {}}


def arms_of(*variants: str, model: str = "qwen3_8b") -> set[str]:
    plan = make_plan(compose(["gpu=h200", f"model={model}", f"measure.variants=[{','.join(variants)}]"]))
    return {arm.name for arm in plan.arms}


def test_a_backend_is_measured_by_the_provider_that_a_variant_asks_for() -> None:
    asked = arms_of("{backend: fa3, provider: kernel}", '{backend: fa3, provider: kernel, library: vllm, page_size: "16"}')
    assert {"fa3/p1", "fa3/p1@kernel", "fa3/p16,library=vllm@kernel"} <= asked
    with pytest.raises(UsageError, match="provider='kernels' of fa3; did you mean kernel"):
        arms_of("{backend: fa3, provider: kernels}")


def test_a_provider_that_does_not_serve_this_attention_is_said_to() -> None:
    settings = compose(["gpu=h200", "model=deepseek_v3", "engine.tensor_parallel=8"])
    (entry,) = (entry for entry in settings.entries if entry.name == "trtllm_mha")
    with pytest.raises(UsageError, match="asks for trtllm_mha by provider=kernel, which it does not have for mla attention on cuda"):
        driver_by(entry, settings.scenario, Provider.KERNEL)


def test_values_that_are_no_list_are_refused() -> None:
    driver = {"provider": "kernel", "driver": "a:B", "packages": [], "devices": ["cuda"], "knobs": {"splits": "any"}}
    with pytest.raises(EntryError, match=r"splits is 'any'; write the list of its values, \[\] for any"):
        entry_from({"name": "mine", "source": "x", "drivers": [driver]})

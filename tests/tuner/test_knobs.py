"""Knobs that an arm is asked to have, on a GPU that is simulated too."""

from __future__ import annotations

import pytest

from backends.arm import Provider
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.flashinfer_paged import KNOBS
from tuner.cli import run
from tuner.errors import UsageError
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


def test_the_entry_and_the_driver_know_the_same_knobs() -> None:
    (entry,) = (entry for entry in compose_backends(()).entries if entry.name == "flashinfer")
    (driver,) = (driver for driver in entry.drivers if driver.provider is Provider.KERNEL)
    assert {knob.name: knob.values for knob in driver.knobs} == KNOBS


def test_values_that_are_no_list_are_refused() -> None:
    driver = {"provider": "kernel", "driver": "a:B", "packages": [], "devices": ["cuda"], "knobs": {"splits": "any"}}
    with pytest.raises(EntryError, match=r"splits is 'any'; write the list of its values, \[\] for any"):
        entry_from({"name": "mine", "source": "x", "drivers": [driver]})

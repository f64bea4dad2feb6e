from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from reports.launchers import slurm
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import pins, words
from tests.reports.launchers.yaml_carriers import recipe_arguments
from tuner.exporting.launchers import load_launchers

SLURM = load_launchers()["slurm"]


def test_srt_slurm_makes_the_flags_of_it() -> None:
    text = slurm.render(building.pin(), SLURM)
    assert recipe_arguments(text, "agg") == ["--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3"]
    assert f": {building.BECAUSE}\n      decode-attention-backend: flashinfer\n" in text


@pytest.mark.parametrize(("role", "before"), [("prefill", "prefill"), ("decode", "decode")])
def test_a_pin_of_one_phase_stands_in_its_role(role: str, before: str) -> None:
    pin = building.pin()
    text = slurm.render(replace(pin, valid_for=replace(pin.valid_for, settings=(("engine.role", role),))), SLURM)
    assert recipe_arguments(text, role) == words(pin, SLURM)
    assert f"# in a recipe without schema: 2 the keys stand under backend.sglang_config.{before}\n" in text


def test_a_pin_that_sets_nothing_gives_an_empty_mapping_and_says_why() -> None:
    text = slurm.render(building.pin(building.kept()), SLURM)
    assert recipe_arguments(text, "agg") == []
    assert "    # unset, because with the best arm a step is at most 0.42 % faster\n    args: {}\n" in text


@given(pins())
def test_nothing_in_a_pin_breaks_out(pin: Pin) -> None:
    assert recipe_arguments(slurm.render(pin, SLURM), "agg") == words(pin, SLURM)

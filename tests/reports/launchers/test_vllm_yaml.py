from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given

from reports.launchers import vllm_yaml
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import pins, words
from tests.reports.launchers.yaml_carriers import vllm_arguments
from tuner.exporting.launchers import load_launchers

VLLM = load_launchers()["vllm-yaml"]
FLAT = ("attention-backend", "kv-cache-dtype", "block-size")
KEYS = ("attention-config.use_trtllm_attention", "attention-config.flash_attn_version")


def pinned(*flags: tuple[str, str]) -> Pin:
    pin = building.pin()
    return replace(pin, engine="vllm", flags=flags, because=((flags[0][0], building.BECAUSE),))


def test_vllm_reads_the_flags_that_were_pinned() -> None:
    text = vllm_yaml.render(pinned(("attention-backend", "FLASHINFER"), ("block-size", "64")), VLLM)
    assert vllm_arguments(text) == ["--attention-backend", "FLASHINFER", "--block-size", "64"]
    assert f": {building.BECAUSE}\nattention-backend: FLASHINFER\n" in text


def test_keys_of_an_object_stand_below_it_and_the_backend_does_not() -> None:
    text = vllm_yaml.render(pinned(("attention-backend", "FLASHINFER"), ("attention-config.flash_attn_version", "3")), VLLM)
    assert vllm_arguments(text) == ["--attention-backend", "FLASHINFER", "--attention-config", '{"flash_attn_version": 3}']


def test_a_pin_that_sets_nothing_writes_a_key_since_vllm_ends_on_comments_alone() -> None:
    text = vllm_yaml.render(replace(building.pin(building.kept()), engine="vllm"), VLLM)
    assert vllm_arguments(text) == ["--attention-backend", "auto"]
    assert text.endswith("set auto: unset, because with the best arm a step is at most 0.42 % faster\nattention-backend: auto\n")


@given(pins(names=FLAT, engine="vllm"))
def test_nothing_in_a_pin_breaks_out(pin: Pin) -> None:
    expected = words(pin, VLLM) or ["--attention-backend", "auto"]
    assert vllm_arguments(vllm_yaml.render(pin, VLLM)) == expected


@given(pins(names=KEYS, engine="vllm"))
def test_nothing_breaks_out_of_an_object(pin: Pin) -> None:
    read = vllm_arguments(vllm_yaml.render(pin, VLLM))
    held = json.loads(dict(zip(read[::2], read[1::2])).get("--attention-config", "{}"))
    assert {f"attention-config.{key}": str(value) for key, value in held.items()} == dict(pin.flags)

from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from reports.launchers import sglang_yaml
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.sglang_config import arguments
from tuner.exporting.launchers import load_launchers

SGLANG = load_launchers()["sglang-yaml"]
FLAGS = (("decode-attention-backend", "flashinfer"), ("page-size", "64"))


def pin(**changes: object) -> Pin:
    return replace(building.pin(), **changes)  # type: ignore[arg-type]


def test_a_reviewer_reads_the_reason_above_each_flag() -> None:
    text = sglang_yaml.render(pin(flags=FLAGS), SGLANG)
    first = f"# attnpin 7f3a9c set flashinfer: {building.BECAUSE}\ndecode-attention-backend: flashinfer\n"
    assert text.endswith(f"{first}# attnpin 7f3a9c set 64\npage-size: 64\n")
    assert text.startswith(
        "# attnpin 0.1.0, run 7f3a9c, 2026-11-30T02:08:00Z\n# measured on NVIDIA H200, sm 90, driver 580.95.05; SGLang 0.5.16"
    )
    assert "# check again after any change of these: attnpin check --pin pin.yaml --fast\n" in text


def test_sglang_reads_the_flags_that_were_pinned() -> None:
    assert arguments(sglang_yaml.render(pin(flags=FLAGS), SGLANG)) == ["--decode-attention-backend", "flashinfer", "--page-size", "64"]


def test_a_pin_that_sets_nothing_is_a_file_of_comments_with_the_reason() -> None:
    text = sglang_yaml.render(building.pin(building.kept()), SGLANG)
    assert arguments(text) == []
    assert all(line.startswith("#") for line in text.splitlines())
    assert text.endswith("# unset, because with the best arm a step is at most 0.42 % faster\n")


@given(st.text())
def test_any_reason_survives_as_one_comment(reason: str) -> None:
    text = sglang_yaml.render(pin(flags=FLAGS, because=(("page-size", reason),), unset=None), SGLANG)
    assert arguments(text) == ["--decode-attention-backend", "flashinfer", "--page-size", "64"]
    assert dict(YAML(typ="safe").load(text)) == {"decode-attention-backend": "flashinfer", "page-size": 64}
    text.encode()


@given(st.text())
def test_any_reason_to_set_nothing_survives_as_one_comment(reason: str) -> None:
    assert arguments(sglang_yaml.render(pin(flags=(), because=(), unset=reason), SGLANG)) == []


@given(st.text(alphabet=string.printable, min_size=1))
def test_any_value_comes_back_as_the_words_that_were_pinned(value: str) -> None:
    assert arguments(sglang_yaml.render(pin(flags=(("kv-cache-dtype", value),)), SGLANG)) == ["--kv-cache-dtype", value]


@pytest.mark.parametrize(
    "value", ["off", "No", "null", "~", "1e3", "0x40", "064", "1_000", "12:30", "2026-11-30", ".inf", "a: b", "- a", "=", "<<"]
)
def test_words_that_yaml_reads_as_something_else_are_quoted(value: str) -> None:
    assert arguments(f"key: {sglang_yaml.scalar(value)}") == ["--key", value]
    assert sglang_yaml.scalar(value).startswith('"')


@pytest.mark.parametrize("value", ["fa3", "fp8_e4m3", "64", "torch_native", "trtllm_mha"])
def test_plain_words_stay_plain(value: str) -> None:
    assert sglang_yaml.scalar(value) == value

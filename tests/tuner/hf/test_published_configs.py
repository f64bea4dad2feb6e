"""Configurations as published, each with the geometry that its source gives, written down by hand.

A file holds ``source``, ``config`` (the fields that matter), perhaps ``hf_quant_config``, and ``expected``: layer kinds as
"name LAYERSx QUERY/KV K/V [wWINDOW] [sinks]"; ``scale`` a number or [width, rope factor, mscale_all_dim] of latent attention;
``params`` in billions, total and perhaps a token's, as its makers or its name give them; ``weight_bits`` a range;
``says`` the beginning of something in the notes. What is left out is plain: MHA, the usual scale, no cap, no other layers.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from backends.model import LayerKind
from backends.wire import from_plain
from tuner.hf.checkpoint import Reading, read_checkpoint

CONFIGS = sorted((Path(__file__).parent / "configs").glob("*.json"))


def published(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


each = pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)


@pytest.fixture
def reading(path: Path, tmp_path: Path) -> Reading:
    file = published(path)
    (tmp_path / "config.json").write_text(json.dumps(file["config"]))
    if "hf_quant_config" in file:
        (tmp_path / "hf_quant_config.json").write_text(json.dumps(file["hf_quant_config"]))
    return read_checkpoint(str(tmp_path))


def in_words(kind: dict[str, Any]) -> str:
    shape = f"{kind['query_heads']}/{kind['kv_heads']} {kind['head_dim']}/{kind['value_head_dim']}"
    window = f" w{kind['sliding_window']}" if kind["sliding_window"] else ""
    return f"{kind['name']} {kind['layers']}x {shape}{window}{' sinks' if kind['sinks'] else ''}"


def scale_in(expected: dict[str, Any]) -> float | None:
    scale = expected.get("scale")
    if not isinstance(scale, list):
        return scale
    width, factor, mscale = scale
    return float(width**-0.5 * (0.1 * mscale * math.log(factor) + 1) ** 2)


def test_there_are_configurations_of_fifty_families() -> None:
    families = {published(path)["config"]["model_type"] for path in CONFIGS}
    assert len(CONFIGS) >= 50 and len(families) >= 50
    assert all(published(path)["source"] for path in CONFIGS)


@each
def test_the_layers_are_those_of_the_source(path: Path, reading: Reading) -> None:
    expected, values = published(path)["expected"], reading.values
    assert [in_words(kind) for kind in values["layers"]] == expected["kinds"]
    assert values["attention"] == expected.get("attention", "mha")
    assert values["other_layers"] == expected.get("other_layers", 0)
    for kind in values["layers"]:
        assert kind["scale"] == (None if scale_in(expected) is None else pytest.approx(scale_in(expected)))
        assert from_plain(LayerKind, kind).latent is (values["attention"] == "mla")


@each
def test_what_surrounds_the_layers_is_that_of_the_source(path: Path, reading: Reading) -> None:
    expected, values = published(path)["expected"], reading.values
    assert (values["context_length"], values["dtype"]) == (expected["context_length"], expected["dtype"])
    assert (values["declared_kv_dtype"], values["logit_softcap"]) == (expected.get("kv_dtype"), expected.get("softcap"))
    low, high = expected.get("weight_bits", (None, None))
    assert values["weight_bits"] is None if low is None else low <= values["weight_bits"] <= high
    assert all(any(said in note for note in reading.notes) for said in expected.get("says", ()))


@pytest.mark.parametrize("path", [path for path in CONFIGS if "params" in published(path)["expected"]], ids=lambda path: path.stem)
def test_the_parameters_are_near_the_published_ones(path: Path, reading: Reading) -> None:
    params = published(path)["expected"]["params"]
    found = [reading.values[key] / 1e9 for key in ("params_total", "params_active")]
    assert found[: len(params)] == pytest.approx(params, rel=0.05)


@each
def test_nothing_that_speaks_of_attention_stays_unread(path: Path, reading: Reading) -> None:
    assert not [note for note in reading.notes if "not understood" in note]

"""Models as shipped: their parameter counts follow from the formulas beside them, and published configurations read as they are."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import conf
from backends.model import Attention, LayerKind, Model
from backends.wire import from_plain
from tests.tuner.composed import composed
from tests.tuner.hf.configuring import written
from tuner.hf.checkpoint import read_checkpoint

FOLDER = Path(conf.__file__).parent / "model"
CONFIGS = Path(__file__).parent / "hf" / "configs"
FORMULA = re.compile(r"^(params_total|attention_params): +(\S+)\s+# (?:the language model alone: )?([^#\n]*\d x [^#;\n]*)$", re.MULTILINE)
PUBLISHED = {
    "deepseek_v3": "deepseek-v3",
    "gemma2_9b": "gemma-2-9b",
    "gemma3_27b": "gemma-3-27b",
    "gemma3_4b": "gemma-3-4b",
    "gpt_oss_20b": "gpt-oss-20b",
    "kimi_k2": "kimi-k2",
    "llama3_1_8b": "llama-3.1-8b",
    "mimo_v2_flash": "mimo-v2-flash",
    "mistral_7b": "mistral-7b-v0.3",
    "qwen2_5_7b": "qwen2.5-7b",
    "qwen3_30b_a3b": "qwen3-30b-a3b",
    "qwen3_8b": "qwen3-8b",
}
OTHER_CONTEXT = ("gemma3_4b", "gemma3_27b")  # the copies at hand have 163840 positions, the class in transformers 131072
FORMULAS = [(path.stem, *match) for path in sorted(FOLDER.glob("*.yaml")) for match in FORMULA.findall(path.read_text())]


@cache
def shipped(name: str) -> Model:
    return composed(f"model={name}").scenario.model


def by_name(model: Model) -> list[LayerKind]:
    return sorted(model.layers, key=lambda kind: kind.name)


def value_of(formula: str, model: Model) -> float:
    """ "58 x (257 experts x 3 ...)" as a number: x times, ^ to the power, words left out."""
    known = formula.replace("attention_params", repr(model.attention_params))
    arithmetic = re.sub(r"[a-z_A-Z]+", "", known.replace(" x ", " * ").replace("^", "**"))
    assert re.fullmatch(r"[\d.e+*() -]+", arithmetic)
    return float(eval(arithmetic))  # digits and operators alone, as asserted


@pytest.mark.parametrize(("name", "field", "written_down", "formula"), FORMULAS, ids=lambda value: str(value)[:20])
def test_a_parameter_count_is_what_the_formula_beside_it_gives(name: str, field: str, written_down: str, formula: str) -> None:
    model = shipped(name)
    assert value_of(formula, model) == pytest.approx(float(written_down), rel=2e-3)
    assert getattr(model, field) == float(written_down)


def test_most_models_have_such_a_formula() -> None:
    assert {name for name, *_ in FORMULAS} >= {path.stem for path in FOLDER.glob("*.yaml")} - {"hf", "tiny"}


@pytest.mark.parametrize(("name", "published"), PUBLISHED.items(), ids=lambda value: str(value))
def test_a_published_configuration_reads_as_the_model_shipped(name: str, published: str, tmp_path: Path) -> None:
    config = json.loads((CONFIGS / f"{published}.json").read_text())["config"]
    read = from_plain(Model, read_checkpoint(str(written(tmp_path, config))).values)
    model = shipped(name)
    for found, kind in zip(by_name(read), by_name(model), strict=True):
        assert replace(found, scale=None) == replace(kind, scale=None)
        assert found.softmax_scale == pytest.approx(kind.softmax_scale)
    assert (read.attention, read.hidden_size, read.dtype) == (model.attention, model.hidden_size, model.dtype)
    assert read.vocab_size == pytest.approx(model.vocab_size, rel=1e-3)  # copies differ in what pads Gemma 3's
    assert read.logit_softcap == model.logit_softcap
    assert read.context_length == model.context_length or name in OTHER_CONTEXT
    assert read.params_total == pytest.approx(model.params_total, rel=5e-3)
    assert read.params_active == pytest.approx(model.params_active, rel=1e-2)
    assert (read.weight_bits or 16.0) == pytest.approx(model.weight_bits or 16.0, rel=2e-2)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_model_names_its_source(path: Path) -> None:
    if path.stem != "hf":
        assert len(shipped(path.stem).source) > 10


def test_latent_models_have_the_scale_of_the_heads_before_absorption() -> None:
    latent = [model for path in FOLDER.glob("*.yaml") if path.stem != "hf" and (model := shipped(path.stem)).attention is Attention.MLA]
    assert len(latent) >= 2
    for model in latent:
        assert all(kind.scale is not None and kind.softmax_scale >= 192**-0.5 > 576**-0.5 for kind in model.layers)

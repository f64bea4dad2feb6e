"""`model=hf model.path=...`: what the checkpoint says fills what the user left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.model import Attention, LayerKind
from tests.tuner.composed import refusal
from tests.tuner.hf.configuring import LATENT, changed, written
from tuner.errors import UsageError
from tuner.plan import make_plan
from tuner.settings import Settings, compose, compose_backends


def composed(folder: Path, *overrides: str, **config: Any) -> Settings:
    return compose(["model=hf", f"model.path={written(folder, changed(**config))}", "gpu=h200", *overrides])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "my-llama"


def test_a_checkpoint_is_a_model_named_after_its_folder(folder: Path) -> None:
    settings = composed(folder)
    model = settings.scenario.model
    assert (model.name, model.architecture, model.attention, model.layers) == (
        "my-llama",
        "LlamaForCausalLM",
        Attention.MHA,
        (LayerKind("full", 4, 32, 8, 128, 128),),
    )
    assert settings.pin_path == Path("pins/my-llama-chat/pin.yaml")


def test_what_a_model_may_lack_is_read_too(folder: Path) -> None:
    quantized = {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}
    model = composed(
        folder, attn_logit_softcapping=50.0, quantization_config=quantized, layer_types=["full_attention", "mamba"] * 2
    ).scenario.model
    assert (model.logit_softcap, model.declared_kv_dtype, model.other_layers) == (50.0, "float8_e4m3fn", 2)
    assert model.weight_bits is not None and 8 < model.weight_bits < 12
    assert model.attention_params == 2 * 4096 * (32 + 8) * 256


def test_what_the_user_sets_stands_before_the_checkpoint(folder: Path) -> None:
    model = composed(
        folder, "model.context_length=4096", "model.name=mine", "model.logit_softcap=30", "model.weight_bits=4", attn_logit_softcapping=50.0
    ).scenario.model
    assert (model.context_length, model.name, model.logit_softcap, model.weight_bits) == (4096, "mine", 30.0, 4.0)


def test_what_was_guessed_stands_among_the_notes_of_the_plan(folder: Path) -> None:
    notes = make_plan(composed(folder, architectures=["TelepathForCausalLM"])).notes
    assert any(note.startswith("a guess: TelepathForCausalLM") for note in notes)
    assert any("parameters were estimated" in note for note in notes)


def test_a_model_of_ones_own_may_leave_the_rest_to_a_checkpoint(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text(f"path: {written(folder)}\nname: mine\ncontext_length: 1024\n")
    model = compose(["model=mine", "backend=[]"], str(tmp_path)).scenario.model
    assert (model.name, model.context_length, model.vocab_size) == ("mine", 1024, 128256)


def test_without_a_path_the_option_says_what_it_needs() -> None:
    assert refusal("model=hf") == "model=hf reads a Hugging Face config.json; give model.path=FILE or the folder of the checkpoint"


def test_a_path_beside_a_model_with_its_geometry_is_refused(folder: Path) -> None:
    assert "model.path is read with model=hf alone, and model tiny has its geometry" in refusal(f"model.path={written(folder)}")


def test_another_kind_of_attention_than_the_checkpoint_s_is_refused(folder: Path) -> None:
    plain, latent = written(folder), written(folder.with_name("latent"), LATENT)
    assert "model.attention=mla contradicts config.json, which describes mha attention; leave it out, or give model.layers too" in refusal(
        "model=hf", f"model.path={plain}", "model.attention=mla"
    )
    assert "model.attention=mha contradicts" in refusal("model=hf", f"model.path={latent}", "model.attention=mha")


def test_overrides_that_contradict_the_checkpoint_are_refused_like_any_other(folder: Path) -> None:
    path = f"model.path={written(folder)}"
    assert "model.params_active=1000000000000000.0 exceeds model.params_total" in refusal("model=hf", path, "model.params_active=1e15")
    assert "32 query heads do not divide over 3 attention ranks" in refusal("model=hf", path, "engine.tensor_parallel=3")
    assert "model.context_length=0 is not possible" in refusal("model=hf", path, "model.context_length=0")


def test_the_backends_of_a_command_line_ask_for_the_same_path(folder: Path) -> None:
    assert compose_backends(["model=hf", f"model.path={written(folder)}"]).version == "0.5.22"
    with pytest.raises(UsageError, match=r"give model\.path=FILE"):
        compose_backends(["model=hf"])

"""What SGLang takes without a word is said; what ends its worker is refused before anything is measured."""

from __future__ import annotations

from typing import Any

import pytest

from backends.model import LayerKind, Model
from store.scenario import Speculation
from tests.asking import entries, model
from tests.tuner.scenarios import GPT_OSS, H100, LLAMA, scenario
from tuner.engines.sglang.rules import rules_for
from tuner.engines.sglang.unheard import DRAFTS, ends_at_its_start, unheard
from tuner.plan import plan_of

WINDOWED = model(LayerKind("full", 18, 64, 8, 64, 64), LayerKind("window", 18, 64, 8, 64, 64, 128), architecture="GptOssForCausalLM")
DSV4 = model(architecture="DeepseekV4ForCausalLM")


def said(asked: Model = LLAMA, **changes: Any) -> tuple[str, ...]:
    return tuple(unheard(scenario(H100, asked, **changes)))


@pytest.mark.parametrize("asked", [WINDOWED, DSV4])
def test_a_ratio_of_pools_is_heard_where_windows_have_their_own(asked: Model) -> None:
    assert said(asked, swa_full_tokens_ratio=0.5) == ()


@pytest.mark.parametrize(("asked", "beside"), [(LLAMA, {}), (GPT_OSS, {}), (WINDOWED, {"disable_hybrid_swa_memory": True})])
def test_a_ratio_of_pools_changes_nothing_where_all_layers_share_one(asked: Model, beside: dict[str, Any]) -> None:
    if asked is GPT_OSS:
        assert all(kind.sliding_window is None for kind in asked.layers)
    (note,) = said(asked, swa_full_tokens_ratio=0.5, **beside)
    assert note.startswith("engine.swa_full_tokens_ratio=0.5 changes nothing: so served, SGLang keeps one pool for all layers of")


def test_sizes_of_graphs_change_nothing_where_none_is_captured() -> None:
    sizes = {"cuda_graph_max_bs": 8, "cuda_graph_bs": (1, 2)}
    assert said(**sizes) == ()
    assert said(**sizes, disable_cuda_graph=True) == (
        "engine.cuda_graph_max_bs=8 changes nothing: SGLang captures no graph beside engine.disable_cuda_graph=true",
        "engine.cuda_graph_bs=[1, 2] changes nothing: SGLang captures no graph beside engine.disable_cuda_graph=true",
    )


@pytest.mark.parametrize("algorithm", [None, "NGRAM", "ngram"])
def test_a_draft_s_backend_changes_nothing_where_no_model_drafts(algorithm: str | None) -> None:
    (note,) = said(speculation=Speculation(algorithm, draft_backend="triton"))
    assert note.startswith("engine.speculative.draft_backend=triton changes nothing: ")


def endings(draft: str | None, algorithm: str | None = "EAGLE", version: str = "0.5.22") -> tuple[str, ...]:
    asked = scenario(version=version, speculation=Speculation(algorithm, draft_backend=draft))
    return tuple(ends_at_its_start(asked, rules_for(version)[0]))


def test_a_backend_that_does_not_draft_ends_the_server_by_the_release_it_is_asked_of() -> None:
    assert endings("triton") == endings(None) == endings("bogus", None) == endings("bogus", "DFLASH") == ()
    (ending,) = endings("bogus", "eagle3")
    assert ending.startswith(
        "SGLang 0.5.22 would end at its start: EAGLE3 does not draft with engine.speculative.draft_backend=bogus; choose"
    )
    assert "did you mean flashinfer?" in endings("flashinfr")[0]
    assert endings("intel_xpu", version="0.5.16") != () == endings("intel_xpu")
    assert endings("tokenspeed_mla", version="0.5.23") != () == endings("tokenspeed_mla")


def test_such_a_server_is_refused_where_its_very_release_is_known_and_else_a_run_would_pin_nothing() -> None:
    asked = Speculation("EAGLE", draft_backend="bogus")
    known, unknown = (plan_of(scenario(version=version, speculation=asked), tuple(entries().values())) for version in ("0.5.22", "0.9.9"))
    assert known.refused is not None and known.refused in known.fatal and "does not draft with" in known.refused
    assert unknown.refused is None and any("does not draft with" in each for each in unknown.fatal)


def test_every_release_with_rules_of_its_own_has_its_drafts() -> None:
    assert all(rules_for(version) == (version, None) for version in DRAFTS)
    assert {rules_for(version)[0] for version in ("0.5.16", "0.5.22", "0.5.23", "0.9.9", "0.1")} <= set(DRAFTS)


def test_a_backend_that_dflash_does_not_draft_with_is_said_to_be_replaced() -> None:
    made = plan_of(scenario(speculation=Speculation("DFLASH", draft_backend="bogus")), tuple(entries().values()))
    assert any(note.startswith("SGLang replaces --speculative-draft-attention-backend bogus by flashinfer") for note in made.notes)

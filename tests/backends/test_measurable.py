from __future__ import annotations

from dataclasses import replace

import pytest

from backends.latent import LATENT
from backends.measurable import DRAFTS, ELSEWHERE, unmeasurable, unverifiable
from backends.model import Attention, LayerKind
from tests.backends.small import WINDOWED, model

LAYER = LayerKind("full", layers=2, query_heads=16, kv_heads=1, head_dim=576, value_head_dim=512)


def refusals(architecture: str) -> list[str]:
    latent = replace(model(LAYER, "bfloat16"), attention=Attention.MLA, architecture=architecture)
    return [reason.remedy for reason in unmeasurable(latent, ["bfloat16", "float8_e4m3fn"])]


@pytest.mark.parametrize("architecture", LATENT)
def test_latent_heads_are_measured_unless_an_index_chooses_their_keys(architecture: str) -> None:
    assert refusals(architecture) == ([] if LATENT[architecture].index_topk is None else [ELSEWHERE])


def test_latent_heads_of_unknown_widths_are_refused_with_the_file_to_add_them_to() -> None:
    (remedy,) = refusals("UnheardForCausalLM")
    assert "backends/latent.py" in remedy


@pytest.mark.parametrize("algorithm", [None, *DRAFTS, "eagle3"])
def test_verify_steps_of_known_drafts_are_measured(algorithm: str | None) -> None:
    assert not list(unverifiable(model(), algorithm, 4))


def test_drafts_with_masks_or_lengths_of_their_own_are_refused() -> None:
    (reason,) = unverifiable(model(), "DFLASH", 1)
    assert "verify steps of DFLASH" in reason.asked and "EAGLE3" in reason.allowed


def test_a_tree_over_windowed_layers_is_refused_and_a_chain_is_not() -> None:
    (reason,) = unverifiable(model(WINDOWED), "EAGLE", 4)
    assert "topk 4" in reason.asked and "topk=1" in reason.remedy
    assert not list(unverifiable(model(WINDOWED), "EAGLE", 1))

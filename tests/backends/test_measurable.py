from __future__ import annotations

from dataclasses import replace

import pytest

from backends.latent import LATENT
from backends.measurable import ELSEWHERE, unmeasurable
from backends.model import Attention, LayerKind
from tests.backends.small import model

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

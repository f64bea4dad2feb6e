"""What one rank holds of a model's parameters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tuner.scenarios import DSV3, LLAMA
from tuner.workload.ranks import Ranks
from tuner.workload.weights import attention_params, bytes_per_param, params_per_rank, weight_bytes

LATENT = replace(DSV3, attention_params=11e9, weight_bits=8.25)


def test_plain_projections_follow_from_the_heads() -> None:
    assert attention_params(LLAMA) == 32 * 4096 * (32 + 8) * (128 + 128)
    assert attention_params(LATENT) == 11e9
    assert attention_params(replace(LLAMA, params_total=1e6, params_active=1e6)) == 1e6  # never more than there are


def test_a_parameter_takes_what_the_checkpoint_stores_it_in() -> None:
    assert (bytes_per_param(LLAMA), bytes_per_param(LATENT)) == (2.0, 8.25 / 8)


def test_ranks_divide_all_weights_and_groups_hold_a_copy_of_attention_s() -> None:
    assert params_per_rank(LATENT, 671e9, Ranks(8)) == pytest.approx(671e9 / 8)
    assert params_per_rank(LATENT, 671e9, Ranks(8, attn_dp=8)) == pytest.approx(660e9 / 8 + 11e9)
    assert params_per_rank(LATENT, 671e9, Ranks(8, attn_dp=2)) == pytest.approx(660e9 / 8 + 11e9 / 4)
    assert weight_bytes(LATENT, Ranks(8)) == pytest.approx(671e9 / 8 * 8.25 / 8)

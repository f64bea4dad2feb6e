from __future__ import annotations

from dataclasses import replace

import pytest

from backends.model import LayerKind
from backends.timing.timed import make_timed
from tests.backends.faulty import PlainCall
from tests.backends.small import LAYER, QUICK, decode, laid_out

LATENT = LayerKind("latent", layers=2, query_heads=4, kv_heads=1, head_dim=320, value_head_dim=256)


@pytest.mark.parametrize("layer", [LAYER, LATENT])
def test_layers_with_pools_of_their_own_are_timed_also_where_values_are_the_head_of_keys(layer: LayerKind) -> None:
    data = laid_out(decode(8, layer=layer), slots=2)
    assert make_timed(PlainCall(data), data, 2, QUICK).slots == 2


@pytest.mark.parametrize("layer", [LAYER, LATENT])
def test_layers_that_share_a_pool_would_find_it_warm_and_are_refused(layer: LayerKind) -> None:
    data = laid_out(decode(8, layer=layer), slots=2)
    twice = replace(data.pool, k=[data.pool.k[0]] * 2, v=[data.pool.v[0]] * 2)
    with pytest.raises(ValueError, match="rotates over 2 pools that share memory"):
        make_timed(PlainCall(data), replace(data, pool=twice), 2, QUICK)

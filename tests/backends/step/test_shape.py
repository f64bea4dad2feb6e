from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.step.shape import LayerShape, RestTimes, StepShape
from backends.wire import from_plain, to_plain

DENSE = StepShape("bfloat16", 64, (LayerShape(3, 64, 16, 16, 64),), 128, 1, 1, 500, 8, 8, 8)
MIXTURE = replace(DENSE, experts=16, experts_per_token=2)


def test_a_dense_layer_reads_all_its_weights_whatever_its_tokens() -> None:
    (kind,) = DENSE.layers
    assert DENSE.layer_bytes(kind) == 2 * 64 * (64 + 16 + 16 + 64 + 3 * 128)
    assert (DENSE.touched, DENSE.expert_rows) == (1, 8)
    assert replace(DENSE, rows=4096, mlp_rows=4096).layer_bytes(kind) == DENSE.layer_bytes(kind)


def test_one_token_reaches_its_experts_and_many_reach_all() -> None:
    one, many = (replace(MIXTURE, rows=rows, mlp_rows=rows) for rows in (1, 4096))
    assert (one.touched, one.expert_rows) == (2, 1)
    assert (many.touched, many.expert_rows) == (16, 4096 * 2 // 16)


@given(rows=st.integers(1, 5000), experts=st.integers(2, 256), data=st.data())
def test_every_token_has_a_row_with_each_of_its_experts(rows: int, experts: int, data: st.DataObject) -> None:
    a_token = data.draw(st.integers(1, experts))
    shape = replace(MIXTURE, experts=experts, experts_per_token=a_token, mlp_rows=rows)
    routed = shape.touched * shape.expert_rows
    assert rows * a_token <= routed < rows * a_token + shape.touched
    assert 1 <= shape.touched <= experts


def test_times_and_the_reason_why_there_are_none_exclude_one_another() -> None:
    with pytest.raises(ValueError, match="or the reason why it has none"):
        RestTimes(DENSE, "graph")
    with pytest.raises(ValueError, match="or the reason why it has none"):
        RestTimes(DENSE, "graph", (1.0,), (1.2,), "out of memory")
    found = RestTimes(DENSE, "graph", (1.0,), (1.2,))
    assert from_plain(RestTimes, to_plain(found)) == found

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.arm import Arm, Provider
from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.model import Model
from backends.outcome import Outcome
from backends.wire import WireError, from_plain, to_plain
from tests.asking import MODEL


class Colour(str, Enum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    count: int
    share: float = 0.5


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    pair: tuple[str, Leaf]
    colour: Colour | None
    table: dict[str, Leaf] = field(default_factory=dict)
    child: Tree | None = None


LEAF = Leaf(1)
TREE = Tree((LEAF, Leaf(2, 1.5)), ("x", LEAF), Colour.RED, {"a": LEAF}, Tree((), ("y", LEAF), None))


def through_json(value: Any) -> Any:
    return from_plain(type(value), json.loads(json.dumps(to_plain(value), allow_nan=False)))


def test_nested_records_come_back_equal() -> None:
    assert through_json(TREE) == TREE


def test_a_trial_and_an_arm_come_back_equal() -> None:
    cost = Cost(1.5, None, 2.0, 3.0)
    trial = Trial("fa3/p1", "cell", Outcome.MEASURED, identity=Identity("fa3", "graph", ("k1", "k2")), cost=cost, slots=4)
    arm = Arm("fa3", Provider.ENGINE, "backends.sglang.driver:Driver", 64, "bfloat16", ("sgl_kernel",), (("splits", "8"),))
    assert through_json(trial) == trial
    assert through_json(arm) == arm


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.integers(0, 9), st.booleans())
def test_any_round_comes_back_equal(samples: list[float], index: int, settled: bool) -> None:
    visits = (Visit(index, 0, "a", tuple(samples)),)
    whole = Round(index, 1, (CellRound("c", (("a", 4),), visits, (("a", 1.0, 2.0),), settled),), (("timing", 0.5),), ("unsettled",))
    assert through_json(whole) == whole


def test_a_missing_field_takes_its_default_and_an_integer_passes_as_a_float() -> None:
    assert from_plain(Leaf, {"count": 3}) == Leaf(3, 0.5)
    read = from_plain(Leaf, {"count": 3, "share": 2})
    assert isinstance(read.share, float) and read.share == 2.0


def test_an_annotation_reads_as_a_record_does() -> None:
    assert from_plain(tuple[Leaf, ...], [{"count": 1}]) == (LEAF,)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"count": 1, "size": 2}, "Leaf has no field 'size'"),
        ({}, "Leaf lacks 'count'"),
        ({"count": "1"}, "Leaf.count: expected int, got '1'"),
        ({"count": True}, "Leaf.count: expected int, got True"),
        ({"count": 1.0}, "Leaf.count: expected int, got 1.0"),
        ([1], "Leaf: expected a mapping"),
    ],
)
def test_what_does_not_fit_is_named_with_class_field_and_value(data: Any, words: str) -> None:
    with pytest.raises(WireError, match=words.replace("(", r"\(")):
        from_plain(Leaf, data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"leaves": [{"count": None}]}, "Tree.leaves: Leaf.count: expected int, got None"),
        ({"leaves": "ab"}, "Tree.leaves: expected a list, got 'ab'"),
        ({"pair": ["x"]}, "Tree.pair: expected 2 items"),
        ({"colour": "blue"}, "Tree.colour: 'blue' is no Colour; it is one of 'red'"),
        ({"table": []}, "Tree.table: expected a mapping"),
    ],
)
def test_an_error_deep_inside_names_the_way_there(change: dict[str, Any], words: str) -> None:
    with pytest.raises(WireError) as caught:
        from_plain(Tree, {**to_plain(TREE), **change})
    assert words in str(caught.value)


def test_what_a_constructor_refuses_passes_through() -> None:
    with pytest.raises(ValueError, match="contradict"):
        from_plain(Trial, {"arm": "a", "cell": "c", "outcome": "measured"})


@pytest.mark.parametrize("value", [object(), {1, 2}, (1, b"bytes")])
def test_what_cannot_travel_is_refused_by_the_sender(value: Any) -> None:
    with pytest.raises(WireError, match="cannot be sent"):
        to_plain(value)


@dataclass(frozen=True)
class Pruned:
    RETIRED: ClassVar[frozenset[str]] = frozenset({"rings"})

    height: int


def test_a_field_that_a_class_has_given_up_is_dropped_and_any_other_is_refused() -> None:
    assert from_plain(Pruned, {"height": 3, "rings": 90}) == Pruned(3)
    with pytest.raises(WireError, match="knots"):
        from_plain(Pruned, {"height": 3, "knots": 1})


def test_a_model_from_before_sinks_belonged_to_layers_is_read() -> None:
    written = {**to_plain(MODEL), "sinks": False}
    assert from_plain(Model, written) == MODEL

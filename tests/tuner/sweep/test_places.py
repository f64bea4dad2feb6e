from __future__ import annotations

from pathlib import Path

import pytest

from tuner.errors import UsageError
from tuner.sweep.places import folder_of, placed

CHAT, RAG = Path("pins/tiny-chat/pin.yaml"), Path("pins/tiny-rag/pin.yaml")


def test_scenarios_with_pins_of_their_own_keep_them() -> None:
    assert placed([CHAT, RAG], [("traffic=chat",), ("traffic=rag",)]) == (CHAT, RAG)


def test_scenarios_that_would_write_one_file_are_told_apart_by_what_differs() -> None:
    found = placed([CHAT, CHAT, RAG], [("a=1", "engine.tensor_parallel=2"), ("a=1", "engine.tensor_parallel=4"), ("a=1", "traffic=rag")])
    assert found == (
        Path("pins/tiny-chat-engine.tensor-parallel-2/pin.yaml"),
        Path("pins/tiny-chat-engine.tensor-parallel-4/pin.yaml"),
        RAG,
    )


def test_one_file_that_the_user_gave_to_several_is_refused() -> None:
    wishes = [("pin.path=p.yaml", "traffic=chat"), ("pin.path=p.yaml", "traffic=rag")]
    with pytest.raises(UsageError, match="pin.path=p.yaml would be written by several scenarios of one sweep; give each its own"):
        placed([Path("p.yaml")] * 2, wishes)


@pytest.mark.parametrize(("paths", "folder"), [([CHAT, RAG], "pins"), ([CHAT], "pins"), ([CHAT, Path("other/x/pin.yaml")], ".")])
def test_the_index_lies_above_all_pins(paths: list[Path], folder: str) -> None:
    assert folder_of(paths) == Path(folder)

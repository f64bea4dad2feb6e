from __future__ import annotations

import pytest

from backends.asked import Asked, Kind, asking
from backends.cell import Phase
from backends.vocabulary import WORDS
from tests.asking import FULL, question


def test_a_word_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    word = WORDS["group"]
    monkeypatch.setitem(WORDS, "group", type(word)(lambda q, layer: (asked.append(layer.name) or 4,), word.text, word.remedy))
    kind = Kind(question(), FULL)
    assert (kind["group"], kind["group"], kind.but(phase=("decode",))["group"], asked) == ((4,), (4,), (4,), ["full"])


def test_another_answer_leaves_the_first_as_it_was() -> None:
    kind = Kind(question(), FULL)
    assert (kind.but(page_size=(64,))["page_size"], kind["page_size"]) == ((64,), (1,))


def test_a_question_in_a_phase_and_at_a_page_size_answers_so() -> None:
    ask = asking(question(phase=Phase.DECODE, page_size=1))
    [kind] = ask(Phase.PREFILL, 64).kinds
    assert (kind["phase"], kind["page_size"], kind["head_dim"]) == (("prefill",), (64,), (128,))
    assert ask(Phase.PREFILL, 64).whole is ask(Phase.DECODE, 1).whole, "no word is asked twice"


def test_each_layer_kind_answers_for_itself() -> None:
    assert [kind["head_dim"] for kind in Asked(question()).kinds] == [(128,)]

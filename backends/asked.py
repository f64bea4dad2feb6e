"""A question as the limits see it: what each of its layer kinds answers to each word."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from backends.answers import Answer
from backends.cell import Phase
from backends.model import LayerKind
from backends.question import Question
from backends.vocabulary import WORDS


class Kind(dict[str, Answer]):
    """The answers of one layer kind by word; each word is asked when a limit first needs it."""

    def __init__(self, question: Question, layer: LayerKind) -> None:
        self.question, self.layer = question, layer

    def __missing__(self, word: str) -> Answer:
        answer = self[word] = WORDS[word].ask(self.question, self.layer)
        return answer

    def but(self, **answers: Answer) -> Kind:
        """The same with other answers to some words."""
        return _Other(self, answers)


class _Other(Kind):
    def __init__(self, base: Kind, answers: dict[str, Answer]) -> None:
        super().__init__(base.question, base.layer)
        self._base = base
        self.update(answers)

    def __missing__(self, word: str) -> Answer:
        answer = self[word] = self._base[word]
        return answer


class Asked:
    """One question with its layer kinds, for as many backends as it is asked of."""

    def __init__(self, question: Question, kinds: tuple[Kind, ...] | None = None) -> None:
        self.question = question
        self.kinds = tuple(Kind(question, layer) for layer in question.layers) if kinds is None else kinds


Asking = Callable[[Phase, int], Asked]


def asking(question: Question) -> Asking:
    """``question`` in a phase and at a page size, whatever it says of these itself. No word is asked twice."""
    whole = Asked(question)

    def ask(phase: Phase, page_size: int) -> Asked:
        return Asked(question, tuple(kind.but(phase=(phase.value,), page_size=(page_size,)) for kind in whole.kinds))

    return cache(ask)

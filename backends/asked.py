"""A question as the limits see it: what each of its layer kinds answers to each word."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any

from backends.answers import Answer
from backends.capability import DECISIVE, Capability, Judgement, Limits
from backends.cell import Phase
from backends.model import LayerKind
from backends.question import Question
from backends.vocabulary import WORDS

Page = int | Callable[[], int]  # tokens; a function where they take work to find: it is called when a limit asks for them

NONE: Mapping[str, Any] = MappingProxyType({})


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

    def but_late(self, **answers: Callable[[], Answer]) -> Kind:
        """The same with other answers that take work: they are given when a limit asks for them."""
        return _Other(self, NONE, answers)


class _Other(Kind):
    def __init__(self, base: Kind, answers: Mapping[str, Answer], late: Mapping[str, Callable[[], Answer]] = NONE) -> None:
        self.question, self.layer, self._base, self._late = base.question, base.layer, base, late
        self.update(answers)

    def __missing__(self, word: str) -> Answer:
        late = self._late.get(word)
        answer = self[word] = self._base[word] if late is None else late()
        return answer


class Whole:
    """One question in any phase and at any page size, for as many backends as it is asked of."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.kinds = tuple([Kind(question, layer) for layer in question.layers])
        self.open = dict[Capability, Limits]()  # of a backend that was looked at, the limits that may still be broken

    @cached_property
    def decided(self) -> dict[Capability, Judgement]:
        """By the decisive limits alone, so far: shared by all questions that answer those alike."""
        answers = [(kind.layer.name, *map(kind.__getitem__, DECISIVE)) for kind in self.kinds]
        return _decided(self.question.engine, self.question.rules, self.question.engine_version, self.question.paths, *answers)


@lru_cache(maxsize=256)
def _decided(*rest_on: Hashable) -> dict[Capability, Judgement]:
    return {}


class Asked:
    """One question: of a `Whole` in one phase and at one page size, whatever the question says of these itself."""

    def __init__(self, question: Question, whole: Whole | None = None, phase: Phase | None = None, page: Page | None = None) -> None:
        self.question, self.whole = question, whole or Whole(question)
        self._phase, self._page = phase or question.phase, question.page_size if page is None else page
        self._kinds: tuple[Kind, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        if not self._kinds:
            answers, late = {"phase": (self._phase.value,)}, {"page_size": partial(_tokens, self._page)}
            self._kinds = tuple([_Other(kind, answers, late) for kind in self.whole.kinds])
        return self._kinds


def _tokens(page: Page) -> Answer:
    return (page if isinstance(page, int) else page(),)


Asking = Callable[[Phase, Page], Asked]


def asking(question: Question) -> Asking:
    """``question`` in a phase and at a page size, whatever it says of these itself. No word is asked twice."""
    whole = Whole(question)
    return lambda phase, page: Asked(question, whole, phase, page)

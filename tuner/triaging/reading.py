"""What a triage reads of a log: its starts and its work, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from store.serving.verified import Start
from tuner.engines.lookup import paced_by, spoken_by
from tuner.engines.rules import Paced, Spoken
from tuner.logs.excerpt import Excerpt
from tuner.logs.lines import Line, lines
from tuner.triaging.watch import Watch


def read_log(log: str, spoken: Spoken, paced: Paced, watch: Watch, late: Callable[[], bool]) -> tuple[Excerpt, tuple[Start, ...]]:
    """Its starts; its work goes into ``watch``."""
    words = tuple(dict.fromkeys((*spoken.WORDS, *paced.WORDS)))
    read = _excerpt(log, paced, words, late)
    return read, spoken.starts(watch.seeing(lines(read.lines(), log, words)))


def lines_of(log: str, late: Callable[[], bool], engine: str) -> Iterator[Line]:
    """Of a log that may be ``engine``'s."""
    words = spoken_by(engine).WORDS
    return lines(_excerpt(log, paced_by(engine), words, late).lines(), log, words)


def _excerpt(log: str, paced: Paced, words: Sequence[str], late: Callable[[], bool]) -> Excerpt:
    return Excerpt(log, paced.BEGINS, tuple(word.encode() for word in words), late=late)

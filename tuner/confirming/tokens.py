"""The tokens of the requests: random ids, so that no tokenizer has a say, the same for the same seed and on both sides. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from tuner.engines.benchmarks import Row, Run
from tuner.traffic.requests import Requests

ENDS = 0.05, 0.75  # of a vocabulary: special tokens stand at either end


@dataclass(frozen=True)
class Vocabulary:
    """So many ids from ``first`` on."""

    first: int
    count: int

    def runs(self, start: int, tokens: int) -> Iterator[Run]:
        """From number ``start`` on, and from the first again behind the last."""
        at = start % self.count
        while tokens > 0:
            some = min(tokens, self.count - at)
            yield self.first + at, some
            tokens, at = tokens - some, 0


def ordinary(size: int) -> Vocabulary:
    low, high = (int(part * size) for part in ENDS)
    return Vocabulary(low, max(1, high - low))


def rows_of(passes: Sequence[Requests], vocabulary: Vocabulary, seed: int) -> tuple[tuple[Row, ...], ...]:
    """Of each pass. No two prompts begin with the same token, except with what all share."""
    rng = Random(f"{seed}/tokens")
    starts = iter(_starts(1 + sum(map(len, passes)), vocabulary.count, rng))
    common = next(starts)
    return tuple(tuple(_rows(each, vocabulary, common, starts)) for each in passes)


def _starts(count: int, among: int, rng: Random) -> list[int]:
    return rng.sample(range(among), count) if count <= among else rng.choices(range(among), k=count)


def _rows(requests: Requests, vocabulary: Vocabulary, common: int, starts: Iterator[int]) -> Iterator[Row]:
    for prompt, output, start in zip(requests.prompt.tolist(), requests.output.tolist(), starts):
        shared = min(requests.shared, prompt)
        yield (*vocabulary.runs(common, shared), *vocabulary.runs(start, prompt - shared)), output


def beginnings(rows: Sequence[Row], cached: Sequence[int]) -> tuple[Row, ...]:
    """The first tokens of each prompt, answered with one, for a server that is to find them in its cache later; none twice."""
    found = ((_first(runs, tokens), 1) for (runs, _), tokens in zip(rows, cached, strict=True) if tokens > 0)
    return tuple(dict.fromkeys(found))


def _first(runs: Sequence[Run], tokens: int) -> tuple[Run, ...]:
    found = list[Run]()
    for first, count in runs:
        if tokens > 0:
            found.append((first, min(count, tokens)))
            tokens -= count
    return tuple(found)

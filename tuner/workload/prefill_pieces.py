"""How prompts reach the prefill kernel: in pieces of at most one chunk, with or without keys of their own before them.

Assumption, until a request log can be replayed: with a cached share c of all prompt tokens, follow-up requests find the
first f = (1 + c) / 2 of their prompt in the prefix cache, and c / f of the requests are such (so c of all tokens is
cached, and c = 0 means none). A prompt longer than the chunk comes in several pieces, each with the earlier ones as prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from store.traffic import Traffic
from tuner.workload.lengths import length_at, strata

POPULATION = 1024


@dataclass(frozen=True)
class Piece:
    """``new`` query tokens of one request behind ``prefix`` tokens that are in the pool already."""

    prefix: int
    new: int


def pieces_of(prompt: int, cached: int, chunk: int) -> Iterator[Piece]:
    """One prompt's pieces; at least one token is always computed."""
    done = min(cached, prompt - 1)
    while done < prompt:
        new = min(chunk, prompt - done)
        yield Piece(done, new)
        done += new


def population(rng: Random, traffic: Traffic, limit: int, chunk: int, page_size: int) -> list[Piece]:
    """Pieces of many requests in arrival order. Prefixes found in the cache are whole pages."""
    cached_of_follow_up = (1 + traffic.cached_share) / 2
    follow_ups = traffic.cached_share / cached_of_follow_up
    found: list[Piece] = []
    for quantile, kind in zip(strata(rng, POPULATION), strata(rng, POPULATION), strict=True):
        prompt = length_at(traffic.prompt, quantile, limit)
        cached = int(prompt * cached_of_follow_up) // page_size * page_size if kind < follow_ups else 0
        found.extend(pieces_of(prompt, cached, chunk))
    return found


def packed(rng: Random, pieces: Sequence[Piece], chunk: int, requests: int) -> list[Piece]:
    """One chunk of ``pieces`` as the scheduler fills it: until ``chunk`` new tokens or ``requests``, the last one cut short.

    The pieces are drawn evenly over their sizes, so that one chunk stands for all of them.
    """
    ordered = sorted(pieces, key=lambda piece: (piece.new, piece.prefix))
    mean = sum(piece.new for piece in pieces) / len(pieces)
    count = max(1, min(requests, round(chunk / mean)))
    drawn: list[Piece] = []
    while len(drawn) < requests and sum(piece.new for piece in drawn) < chunk:
        more = min(count, requests - len(drawn))
        drawn += [ordered[int(quantile * len(ordered))] for quantile in strata(rng, more)]
        count = 1
    return list(_cut(drawn, chunk))


def _cut(pieces: Iterable[Piece], chunk: int) -> Iterator[Piece]:
    room = chunk
    for piece in pieces:
        if room <= 0:
            return
        yield Piece(piece.prefix, min(piece.new, room))
        room -= piece.new

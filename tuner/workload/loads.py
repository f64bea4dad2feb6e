"""Batch shapes that traffic gives, before they meet a layer kind.

Decode: a quarter, half and all of the concurrency, with 0.2, 0.3 and 0.5 of the output tokens; a request's context is its
prompt and a uniform share of its output. Prefill: a chunk of fresh prompts and a chunk of pieces with a prefix
(`tuner.workload.prefill_pieces`), with the share of computed prompt tokens each kind has. Lengths are drawn with the seed and cut
at the longest request the server takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from random import Random

from backends.cell import Phase
from backends.drafting import NO_DRAFT, Tree
from store.plan import Server
from store.traffic import Traffic
from tuner.workload.lengths import length_at, strata, whole_pages
from tuner.workload.prefill_pieces import Piece, packed, population

SHARES = ((4, 0.2), (2, 0.3), (1, 0.5))  # a divisor of the concurrency, a share of the output tokens


@dataclass(frozen=True)
class Load:
    """Lengths over requests, tokens they share and their draft, as `Cell` has them; ``share`` of its phase's tokens.
    ``steps_per_1000`` output tokens of one group of ranks, where they were counted; None = they follow from the share."""

    name: str
    phase: Phase
    context_lens: tuple[int, ...]
    new_lens: tuple[int, ...]
    prompt_lens: tuple[int, ...]
    share: float
    shared_prefix: int = 0
    steps_per_1000: float | None = None
    draft: Tree = NO_DRAFT

    @property
    def generates(self) -> bool:
        """As `Cell.generates`."""
        return self.phase is Phase.DECODE or bool(self.draft)

    @property
    def batch(self) -> int:
        return len(self.context_lens)

    def held_tokens(self, page_size: int) -> int:
        """Pool slots that the requests occupy: whole pages, those of the shared prefix once."""
        shared = [min(self.shared_prefix, prompt) // page_size * page_size for prompt in self.prompt_lens]
        return sum(whole_pages(context, page_size) for context in self.context_lens) - sum(shared) + max(shared)


def longest_request(server: Server) -> int:
    """Tokens one request may reach. Source: sglang/srt/managers/tp_worker.py, max_req_len."""
    return min(server.context_length, server.pool_tokens or server.context_length)


def decode_loads(traffic: Traffic, server: Server, seed: int) -> tuple[Load, ...]:
    """One load a batch size; where two are equal, one with both shares."""
    shares: dict[int, float] = {}
    for divisor, share in SHARES:
        batch = ceil(traffic.concurrency / divisor)
        shares[batch] = shares.get(batch, 0.0) + share
    return tuple(decode_load(traffic, server, seed, batch, share) for batch, share in shares.items())


def decode_load(traffic: Traffic, server: Server, seed: int, batch: int, share: float) -> Load:
    name, limit = f"decode-{batch}", longest_request(server)
    rng = Random(f"{seed}/{name}")
    prompts = tuple(length_at(traffic.prompt, quantile, max(1, limit - 1)) for quantile in strata(rng, batch))
    outputs = [length_at(traffic.output, quantile, limit) for quantile in strata(rng, batch)]
    made = [ceil(part * output) for part, output in zip(strata(rng, batch), outputs, strict=True)]
    contexts = tuple(min(limit, prompt + out) for prompt, out in zip(prompts, made, strict=True))
    return Load(name, Phase.DECODE, contexts, (1,) * batch, prompts, share, traffic.shared_prefix_tokens)


def prefill_loads(traffic: Traffic, server: Server, seed: int, page_size: int) -> tuple[Load, ...]:
    """A fresh chunk and one of pieces with prefixes; the latter is left out where no prompt has any."""
    rng, chunk = Random(f"{seed}/prefill"), server.chunked_prefill_size
    pieces = population(rng, traffic, longest_request(server), chunk, page_size)
    computed = sum(piece.new for piece in pieces)
    kinds = {
        "prefill-fresh": [piece for piece in pieces if piece.prefix == 0],
        "prefill-prefix": [piece for piece in pieces if piece.prefix > 0],
    }

    def load(name: str, some: Sequence[Piece]) -> Load:
        taken = held(packed(rng, some, chunk, traffic.concurrency), server, page_size)
        return _prefill_load(name, taken, sum(piece.new for piece in some) / computed, traffic.shared_prefix_tokens)

    return tuple(load(name, some) for name, some in kinds.items() if some)


def held(pieces: Sequence[Piece], server: Server, page_size: int) -> Sequence[Piece]:
    """The first of ``pieces`` whose keys the KV pool holds together, at least one."""
    occupied = accumulate(whole_pages(piece.prefix + piece.new, page_size) for piece in pieces)
    fitting = sum(server.pool_tokens is None or tokens <= server.pool_tokens for tokens in occupied)
    return pieces[: max(1, fitting)]


def _prefill_load(name: str, pieces: Sequence[Piece], share: float, shared: int) -> Load:
    contexts = tuple(piece.prefix + piece.new for piece in pieces)
    return Load(name, Phase.PREFILL, contexts, tuple(piece.new for piece in pieces), contexts, share, shared)

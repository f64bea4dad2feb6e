"""Decode loads of a server that drafts: its model decodes nothing, it verifies.

The draft's own steps are not among them: they are small, run on a backend of their own (``engine.speculative.draft_backend``), and are the
same whichever backend verifies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from store.plan import Server
from store.scenario import Speculation
from tuner.workload.loads import Load, longest_request

# Judgement, where nobody says how long the accepted runs are: half of the longest path of a draft holds.
HELD = 0.5


def verifying(load: Load, server: Server) -> Load:
    """``load`` as it is served: under a draft the verify step of the same requests, with the keys of the drafted tokens behind theirs."""
    if server.drafting is None or not load.generates:
        return load
    tree, limit = server.drafting.tree, longest_request(server)
    more = len(tree) - 1
    contexts = tuple(min(context + more, limit) for context in load.context_lens)
    prompts = tuple(max(1, min(prompt, context - len(tree))) for prompt, context in zip(load.prompt_lens, contexts, strict=True))
    name = load.name.replace("decode", "verify", 1)
    new = (len(tree),) * load.batch
    return replace(load, name=name, phase=server.verify_side, context_lens=contexts, new_lens=new, prompt_lens=prompts, draft=tree)


def accepted_length(speculation: Speculation, server: Server) -> float:
    """Tokens that one step of the model gives a request, on average: 1 without a draft."""
    if server.drafting is None:
        return 1.0
    longest = min(server.drafting.steps, server.drafting.tokens - 1)
    return speculation.accepted_length or 1 + HELD * longest


def draft_notes(speculation: Speculation, server: Server, mixed_chunk: bool = False) -> Iterator[str]:
    """What is measured of speculation, and what is taken for granted."""
    drafting = server.drafting
    if drafting is None:
        return
    drafts = "a chain" if drafting.topk <= 1 else f"a tree, at most {drafting.topk} wide"
    side = server.verify_side.value
    yield (
        f"under {drafting.algorithm} the model verifies {drafting.tokens} tokens a request ({drafts}) in the place of decoding one, on the "
        f"{side} backend; the draft's own steps are not measured"
    )
    if mixed_chunk:
        yield "engine.mixed_chunk is not measured beside speculation: SGLang turns it off with most algorithms"
    if speculation.accepted_length is None:
        yield (
            f"a verify step is taken to give a request {accepted_length(speculation, server):g} tokens, half of what the draft could; "
            "engine.speculative.accepted_length sets what your server's log says (accept len)"
        )

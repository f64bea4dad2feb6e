"""What the engine itself said of a scenario, and where attnpin's rules say otherwise, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from reports import wording
from store.engines.asked import EngineAnswer

RULES_ANSWERED = "attnpin's rules answered"


def lines(answer: EngineAnswer | None, engine: str) -> tuple[str, ...]:
    """``engine`` is its name in a scenario; None = nobody was there to be asked."""
    name = wording.engine(engine)
    if answer is None:
        return (f"{RULES_ANSWERED}; no {name} was asked",)
    if answer.failure is not None:
        asked = f"{name} {answer.version} could not be asked" if answer.version else f"no {name} was asked"
        return (f"{asked} ({answer.failure}): {RULES_ANSWERED}",)
    return (_said(answer, name), *_compared(answer, name))


def where(answer: EngineAnswer) -> str:
    return f"simulated {answer.simulated}" if answer.simulated else "on the worker's own machine"


def _said(answer: EngineAnswer, name: str) -> str:
    asked = f"{name} {answer.version} itself was asked ({where(answer)})"
    if answer.refusal is not None:
        return f'{asked} and would not start: "{answer.refusal}"'
    backends = f"prefill {answer.prefill}, decode {answer.decode}"
    return f"{asked}: {backends}, page size {answer.page_size}, KV dtype {answer.kv_cache_dtype}"


def _compared(answer: EngineAnswer, name: str) -> Iterator[str]:
    for one in answer.differences:
        yield f"{one.what}: {name} {one.engine}, attnpin's rules {one.rules}; {name}'s answer is used"
    if not answer.differences:
        yield f"attnpin's rules for {name} say the same"

"""Where SGLang's answer hangs on how a wish is written: what it silently replaces, and what another spelling of the same would give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tuner.engines.sglang.resolution import Answer, answered, rule_named
from tuner.engines.sglang.resolver.request import Request

FLAGS = {
    **{"base": "attention-backend", "prefill": "prefill-attention-backend", "decode": "decode-attention-backend"},
    **{"page_size": "page-size", "kv_dtype": "kv-cache-dtype", "topk": "speculative-eagle-topk"},
    "draft": "speculative-draft-attention-backend",
}
PASSED_ON = "; prefixes are reused by such pages, and a router that knows the page size has to follow"
SAID_ELSEWHERE = "platform.npu"
ALIASES = {"nsa": "dsa", "compressed": "dsv4"}
DTYPES = {"bf16": "bfloat16", "bfloat16": "bf16"}


def replaced(answer: Answer) -> Iterator[str]:
    """A sentence for each setting that the user wrote and that is replaced without an error."""
    seen = set[str]()
    for change in answer.resolution.changes:
        first = change.setting not in seen
        seen.add(change.setting)
        written = change.setting in FLAGS and change.before not in (None, "auto")
        if first and written and change.rule != SAID_ELSEWHERE:
            because = rule_named(change.rule).because.rstrip(".") + (PASSED_ON if change.setting == "page_size" else "")
            yield f"SGLang replaces --{FLAGS[change.setting]} {change.before} by {change.after} ({change.rule}): {because}"


def spellings(answer: Answer) -> Iterator[tuple[str, Request]]:
    """Requests that ask for the same in other words, and those words."""
    yield from _drafts(answer)
    yield from _one_split_flag(answer)
    yield from _both_split_flags(answer)
    yield from _other_names(answer)


def _drafts(answer: Answer) -> Iterator[tuple[str, Request]]:
    draft, filled = answer.request.draft, answer.resolution.settings
    if draft.algorithm is not None and draft.topk is None and filled.topk is not None:
        other = replace(draft, topk=filled.topk, steps=filled.steps, draft_tokens=filled.draft_tokens)
        words = f"topk={filled.topk}, steps={filled.steps} and draft_tokens={filled.draft_tokens}, which SGLang fills in later, written out"
        yield words, replace(answer.request, draft=other)


def _one_split_flag(answer: Answer) -> Iterator[tuple[str, Request]]:
    request, found = answer.request, answer.resolution
    if request.attention_backend is None and (request.prefill_attention_backend is None) != (request.decode_attention_backend is None):
        yield (
            f"both split flags written, prefill {found.prefill} and decode {found.decode}",
            replace(request, prefill_attention_backend=found.prefill, decode_attention_backend=found.decode),
        )


def _both_split_flags(answer: Answer) -> Iterator[tuple[str, Request]]:
    request = answer.request
    chosen = request.attention_backend
    if chosen is not None and request.prefill_attention_backend is None and request.decode_attention_backend is None:
        both = replace(request, attention_backend=None, prefill_attention_backend=chosen, decode_attention_backend=chosen)
        yield f"{chosen} written as both split flags", both


def _other_names(answer: Answer) -> Iterator[tuple[str, Request]]:
    request = answer.request
    if request.kv_cache_dtype in DTYPES:
        other = DTYPES[request.kv_cache_dtype]
        yield f"--kv-cache-dtype {other} (the same dtype)", replace(request, kv_cache_dtype=other)
    old = (request.attention_backend, request.prefill_attention_backend, request.decode_attention_backend)
    base, prefill, decode = (None if name is None else ALIASES.get(name, name) for name in old)
    if (base, prefill, decode) != old:
        newer = replace(request, attention_backend=base, prefill_attention_backend=prefill, decode_attention_backend=decode)
        yield "the newer name (dsa, dsv4) written", newer


def other_answers(answer: Answer) -> Iterator[str]:
    """A sentence for each other spelling that SGLang answers otherwise."""
    for words, request in spellings(answer):
        here, there = outcome(answer), outcome(answered(request))
        if here != there:
            yield f"as written SGLang {here}; with {words} it {there}"


def outcome(answer: Answer) -> str:
    if answer.refusals:
        return f"refuses to start ({answer.refusals[0].rule})"
    found = answer.resolution
    prefill, decode = (ALIASES.get(str(side), side) for side in (found.prefill, found.decode))
    backends = decode if prefill == decode else f"{prefill} for prefill and {decode} for decode"
    return f"runs {backends} at page size {found.page_size}"

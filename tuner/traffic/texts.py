"""Conversations and prompts as text (ShareGPT, chat messages, prompts of a data set) as requests: each answer is one, behind all that was
said before it, which the cache holds from the answer before. No tokenizer is asked: four bytes are a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tuner.traffic.columns import tokens

BYTES_PER_TOKEN = 4  # of UTF-8; English takes 4 to 5, Chinese 3 to 4.5
ANSWERS = frozenset({"gpt", "assistant", "chatgpt", "bing", "bard", "model", "ai", "bot"})
TURNS = ("conversations", "conversation", "messages", "items")
PROMPTS, OUTPUTS = ("prompt", "instruction", "question", "input"), ("output", "completion", "response", "answer", "chosen")
LENGTHS = ("output_tokens", "output_len", "max_tokens", "expected_output_len")
ESTIMATED = f"the file holds texts: {BYTES_PER_TOKEN} bytes were taken for a token"


def is_text(row: Mapping[str, Any]) -> bool:
    return any(isinstance(row.get(name), list) for name in TURNS) or any(isinstance(row.get(name), str) for name in PROMPTS)


def requests_in(row: Mapping[str, Any]) -> list[tuple[int, int, int]] | str:
    """(prompt, output, cached) of each answer in tokens, in order, or why there is none."""
    turns = next((row[name] for name in TURNS if isinstance(row.get(name), list)), None)
    if turns is not None:
        return list(_answers(turns)) or "no answer in the conversation"
    prompt = next((row[name] for name in PROMPTS if isinstance(row.get(name), str)), None)
    length = next((row[name] for name in LENGTHS if row.get(name) is not None), None)
    output = next((row[name] for name in OUTPUTS if isinstance(row.get(name), str)), None)
    if not prompt:
        return "no prompt"
    if length is None and not output:
        return "no output, and no length of one"
    made = _tokens(output or "") if length is None else tokens(length, "output", 1)
    return made if isinstance(made, str) else [(_tokens(prompt), made, 0)]


def _answers(turns: Sequence[Any]) -> Iterator[tuple[int, int, int]]:
    before = cached = 0
    for turn in turns:
        who, said = _turn(turn)
        if who in ANSWERS and before and said:
            yield before, _tokens(said), min(cached, before)
            cached = before + _tokens(said)
        before += _tokens(said) if said else 0


def _turn(turn: Any) -> tuple[str, str]:
    if not isinstance(turn, Mapping):
        return "", ""
    said = turn.get("value", turn.get("content", turn.get("text")))
    return str(turn.get("from", turn.get("role", ""))).lower(), said if isinstance(said, str) else ""


def _tokens(text: str) -> int:
    return max(1, round(len(text.encode(errors="replace")) / BYTES_PER_TOKEN))

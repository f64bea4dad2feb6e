"""Which engine's server a command starts, as far as its words show. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from backends.question import ENGINES


def started(words: Sequence[str]) -> str | None:
    """A name of `ENGINES`. "vllm serve", "/opt/venv/bin/vllm serve", "-m vllm.entrypoints.openai.api_server"; the same word elsewhere
    may be a model's name."""
    triples = list(zip(("", *words), words, (*words[1:], "")))
    return next((engine for engine in ENGINES if any(_is_start(engine, *triple) for triple in triples)), None)


def _is_start(engine: str, before: str, word: str, after: str) -> bool:
    return word.partition(".")[0] == engine if before == "-m" else PurePath(word).name == engine and after == "serve"

"""What the rules come to: settings and the way to them, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tuner.engines.sglang.resolver.record import Settings


@dataclass(frozen=True)
class Refusal:
    """SGLang would not start. ``text`` says why and what to do; ``engine_says`` is a part of its own message, "" where it has none."""

    rule: str
    text: str
    engine_says: str


@dataclass(frozen=True)
class Change:
    """``rule`` put ``after`` in the place of ``before``, None = was not set."""

    setting: str
    before: Any
    after: Any
    rule: str


@dataclass(frozen=True)
class Resolution:
    """``draft`` None = the target's backends; ``verify_side`` None = no speculation. Where ``error`` is set, the rest is as far as SGLang
    came. ``path``: ids of the rules that held, in order; ``changes``: what each of them did."""

    base: str | None
    prefill: str | None
    decode: str | None
    draft: str | None
    verify_side: str | None
    page_size: int | None
    kv_dtype: str
    settings: Settings
    changes: tuple[Change, ...]
    error: Refusal | None
    path: tuple[str, ...]

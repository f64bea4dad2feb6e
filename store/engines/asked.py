"""The engine's own answer to a scenario: what its resolver said of its command line, and where attnpin's rules say otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """``what`` ("page size") is ``engine`` by the engine's own word and ``rules`` by attnpin's rules. The engine's counts."""

    what: str
    engine: str
    rules: str


@dataclass(frozen=True)
class EngineAnswer:
    """``version`` is the release found where the worker runs, None = none was. ``simulated`` names the GPU that the engine was made to
    believe in, None = it was asked on the worker's own machine.

    One of three: what it would serve with (the first four; backends by their names here), ``refusal`` = its own words for why it
    would not start, ``failure`` = why it could not be asked, so that attnpin's rules answered alone.
    """

    version: str | None
    simulated: str | None = None
    prefill: str | None = None
    decode: str | None = None
    page_size: int | None = None
    kv_cache_dtype: str | None = None
    refusal: str | None = None
    failure: str | None = None
    differences: tuple[Difference, ...] = ()

    def __post_init__(self) -> None:
        if [self.decode, self.refusal, self.failure].count(None) != 2:
            raise ValueError("an engine answers with what it would serve, or refuses, or could not be asked")

    @property
    def resolved(self) -> bool:
        return self.decode is not None

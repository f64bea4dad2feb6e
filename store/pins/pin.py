"""The pin: flags for one engine on one board, valid for one environment, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from store.traffic import Lengths

PIN_SCHEMA = 1


@dataclass(frozen=True)
class Requests:
    """What a traffic's name stood for when the pin was made; as in `store.traffic.Traffic`."""

    concurrency: int
    prompt: Lengths
    output: Lengths
    cached_share: float


@dataclass(frozen=True)
class ValidFor:
    """What must stay as it was. ``distributions``: (name, version, digest) of just those the picked and default arms use.
    ``engine_version`` is None where no engine was on the worker's path; ``rules_version`` says whose rules were applied.
    ``requests`` None = an early pin, which kept the name of its traffic alone. ``settings``: what else was asked, by the key a
    user writes ("engine.context_length"). ``model_config``: SHA-256 of the checkpoint's configuration, None = the model is one of
    attnpin's own, or the pin an early one. ``image``: as somebody named it with its digest, None = nobody did, or an early pin."""

    gpu: str
    sm: int | None
    memory_bytes: int | None
    power_limit_w: float | None
    mig: str | None
    driver: str | None
    engine: str
    engine_version: str | None
    rules_version: str
    python: str
    torch: str | None
    cuda: str | None
    distributions: tuple[tuple[str, str, str], ...]
    variables: tuple[tuple[str, str], ...]
    model: str
    tensor_parallel: int
    kv_cache_dtype: str
    page_size: int
    traffic: str
    requests: Requests | None = None
    settings: tuple[tuple[str, str], ...] = ()
    model_config: str | None = None
    image: str | None = None


@dataclass(frozen=True)
class Pin:
    """``flags`` are long options without dashes ("decode-attention-backend": "flashinfer"), empty when ``unset`` says why.
    ``because``: one line of at most 160 characters a flag. ``evidence``: file name beside the pin and its SHA-256.
    ``variables`` of the server's environment belong to the flags. ``boards``: UUIDs of those it was seen on, none in an early pin."""

    schema: int
    engine: str
    flags: tuple[tuple[str, str], ...]
    unset: str | None
    because: tuple[tuple[str, str], ...]
    valid_for: ValidFor
    evidence: tuple[str, str]
    run: str
    created: str
    tool_version: str
    variables: tuple[tuple[str, str], ...] = ()
    boards: tuple[str, ...] = ()

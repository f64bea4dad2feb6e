"""What `tuner.confirming` asks of an engine: how its server is started, its own benchmarks, and what they write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from store.serving.serving_run import Level
from tuner.errors import MeasurementInvalid
from tuner.logs.lines import Line

Words = tuple[str, ...]
Run = tuple[int, int]  # the first of so many token ids that follow each other: what both engines' random data sets are made of, too
Row = tuple[tuple[Run, ...], int]  # of a request: its prompt, and how many tokens answer it


class Bench(str, Enum):
    """``SERVING`` sends requests to a server; ``ONE_BATCH`` runs one batch at a time inside the engine, without a server."""

    SERVING = "serving"
    ONE_BATCH = "one-batch"


@dataclass(frozen=True)
class Call:
    """A module of the engine run as a program, once with each of ``passes``, which are its words. ``rows`` of each are what it sends:
    ``given`` is Python, run before it, which has the module take the pairs in the list ``sent`` (token ids, tokens of the answer) for its
    data set."""

    module: str
    passes: tuple[Words, ...]
    rows: tuple[tuple[Row, ...], ...] = ()
    given: str = ""


@dataclass(frozen=True)
class Told:
    """What a start says of itself beside what `verify` reads: the size of the KV pool, and its arguments by field."""

    pool_tokens: int | None
    settings: tuple[tuple[str, str], ...]


class Benchmarks(Protocol):
    """``results`` is a file to which a benchmark adds a JSON object a line, one a concurrency in their order."""

    MODULES: Words  # python -m MODULE starts a server
    PROGRAM: str  # PROGRAM serve [MODEL] does
    MODEL: str  # the option that stands for a MODEL without one
    WORDS: Words  # one of them is in every line that `told` reads
    ENDS_SLOWLY: bool  # a server that was told to, though it serves nobody any more

    def serving(self, url: str, concurrency: Sequence[int], rows: tuple[tuple[Row, ...], ...], results: Path) -> Call:
        """``rows``: those of the pass that warms up, which goes first, then those of each concurrency."""

    def one_batch(self, arguments: Words, batches: Sequence[int], prompt: int, output: int, results: Path) -> Call:
        """``arguments`` are the server's; lengths are tokens. Raises `UsageError` where the engine has no such benchmark."""

    def level(self, concurrency: int, requests: int, result: Mapping[str, Any]) -> Level:
        """Raises `MeasurementInvalid` where requests failed."""

    def told(self, lines: Iterable[Line]) -> Told: ...


def passes(concurrency: Sequence[int], results: Path) -> tuple[tuple[int, Path], ...]:
    """How many requests run at once in each pass, and where its result goes. The first warms up, at the largest; its result counts for
    nothing."""
    return ((max(concurrency), warmed(results)), *((each, results) for each in concurrency))


def warmed(results: Path) -> Path:
    """Where the pass that warms up writes."""
    return results.with_name(f"warm-{results.name}")


def level_of_serving(concurrency: int, requests: int, result: Mapping[str, Any]) -> Level:
    """SGLang's serving benchmark grew from vLLM's, and names its results alike. Raises as `Benchmarks.level`."""
    completed = result.get("completed")
    if completed != requests:
        raise MeasurementInvalid(f"{completed} of {requests} requests at concurrency {concurrency} were answered; see the benchmark's log")
    return Level(
        concurrency=concurrency,
        itl_ms=seen(result, "median_itl_ms"),
        itl_p99_ms=seen(result, "p99_itl_ms"),
        ttft_ms=seen(result, "median_ttft_ms"),
        ttft_p99_ms=seen(result, "p99_ttft_ms"),
        output_tokens_per_s=seen(result, "output_throughput"),
    )


def seen(result: Mapping[str, Any], name: str) -> float | None:
    """Of what it never saw a benchmark writes 0."""
    value = result.get(name)
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def plain(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Arguments that have one value each."""
    return tuple(sorted((name, str(value)) for name, value in arguments.items() if not isinstance(value, (dict, list))))

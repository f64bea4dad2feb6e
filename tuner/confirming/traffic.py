"""The traffic that both sides are sent: the requests of the pin's scenario, or of the user's trace, as an engine's benchmark sends them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from store.runs.run import Run
from store.scenario import Scenario
from store.serving.serving_run import Sent
from tuner.confirming.requests import drawn, means, stretched
from tuner.confirming.tokens import beginnings, ordinary, rows_of
from tuner.engines.benchmarks import Bench, Row
from tuner.errors import UsageError
from tuner.traffic.requests import Requests

EACH = 4  # requests for each that runs at once
FEWEST = 4  # of a concurrency
MOST = 200_000  # of a start: they are drawn and sent over a pipe
WARM_TOKENS, WARM_PART = 32, 0.25  # of what warms up: an answer, and how much of the length of a prompt


@dataclass(frozen=True)
class AskedTraffic:
    """What the user says of the traffic; None and () = as the pin's scenario has it. Tokens are means. ``rows`` of a trace stand for the
    scenario's distributions."""

    concurrency: tuple[int, ...] = ()
    each: int = EACH
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    rows: Requests | None = None


@dataclass(frozen=True)
class Traffic:
    """``passes``: what warms up, then what each concurrency is measured with; none without a server."""

    sent: Sent
    passes: tuple[tuple[Row, ...], ...] = ()


def traffic_of(run: Run, asked: AskedTraffic, bench: Bench, seed: int) -> Traffic:
    """Raises `UsageError` where the lengths do not fit the context."""
    scenario, limit = run.scenario, _limit(run.scenario)
    prompt, output = (round(mean) for mean in _means(scenario, asked))
    if prompt + output > limit:
        raise UsageError(
            f"prompts of {prompt} and outputs of {output} tokens do not fit a context of {limit}; set --prompt-tokens and --output-tokens"
        )
    concurrency = asked.concurrency or (scenario.traffic.concurrency,)
    if bench is Bench.ONE_BATCH:
        return Traffic(Sent(bench.value, concurrency, concurrency, prompt, output, seed))
    counts = tuple(max(asked.each * each, FEWEST) for each in concurrency)
    if sum(counts) > MOST:
        raise UsageError(f"{sum(counts)} requests a start are more than the {MOST} that can be sent; set --concurrency and --each")
    drawing = enumerate((max(concurrency), *counts))
    warm, *levels = (_requests(scenario, asked, count, Random(f"{seed}/{place}")) for place, count in drawing)
    first, *rows = rows_of((_shorter(warm), *levels), ordinary(scenario.model.vocab_size), seed)
    cached = dict.fromkeys(row for level, each in zip(levels, rows) for row in beginnings(each, level.cached.tolist()))
    return Traffic(_sent(scenario, asked, concurrency, levels, rows, seed), ((*first, *cached), *rows))


def _limit(scenario: Scenario) -> int:
    return scenario.engine.context_length or scenario.model.context_length


def _means(scenario: Scenario, asked: AskedTraffic) -> tuple[float, float]:
    prompt, output = means(scenario.traffic, asked.rows, _limit(scenario))
    return asked.prompt_tokens or prompt, asked.output_tokens or output


def _requests(scenario: Scenario, asked: AskedTraffic, count: int, rng: Random) -> Requests:
    """The same distribution with the means that are asked for, and no request longer than the context."""
    limit = _limit(scenario)
    own, wanted = means(scenario.traffic, asked.rows, limit), _means(scenario, asked)
    found = drawn(scenario.traffic, asked.rows, count, limit, rng)
    return stretched(found, wanted[0] / own[0], wanted[1] / own[1]).fitted(limit - 1, 1)


def _shorter(requests: Requests) -> Requests:
    short = stretched(requests, WARM_PART, 1.0)
    return replace(short, output=np.minimum(short.output, WARM_TOKENS))


def _sent(
    scenario: Scenario,
    asked: AskedTraffic,
    concurrency: tuple[int, ...],
    levels: Sequence[Requests],
    rows: Sequence[Sequence[Row]],
    seed: int,
) -> Sent:
    prompt, output, cached = (np.concatenate([getattr(level, name) for level in levels]) for name in ("prompt", "output", "cached"))
    return Sent(
        benchmark=Bench.SERVING.value,
        concurrency=concurrency,
        requests=tuple(map(len, levels)),
        prompt_tokens=round(float(prompt.mean())),
        output_tokens=round(float(output.mean())),
        seed=seed,
        lengths=scenario.traffic.name if asked.rows is None else "the trace",
        cached_share=round(float(cached.sum() / prompt.sum()), 4),
        sha256=hashlib.sha256(json.dumps(rows).encode()).hexdigest(),
        notes=tuple(_notes(scenario, asked)),
    )


def _notes(scenario: Scenario, asked: AskedTraffic) -> Iterator[str]:
    recorded = scenario.traffic.recorded
    if recorded is not None and asked.rows is None:
        yield "the pin's trace was not at hand: lengths are drawn from its median and 95th percentile; give it with traffic.path=FILE"
    elif asked.rows is not None and (recorded is None or recorded.sha256 != asked.rows.sha256):
        yield f"the requests are those of the trace that was given, and the pin was made for {scenario.traffic.name}"

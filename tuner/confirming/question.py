"""What is asked of two servers, and the traffic that both are sent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from backends.wire import to_plain
from store.digest import canonical
from store.run import Run
from store.serving_run import Sent
from tuner.confirming.sides import Sides
from tuner.engines.benchmarks import SPREAD, Bench
from tuner.errors import UsageError
from tuner.workload.lengths import mean_tokens

EACH = 4  # requests for each that runs at once
FEWEST = 4  # of a concurrency


@dataclass(frozen=True)
class Wish:
    """What the user says of the traffic; None and () = as the pin's scenario has it."""

    concurrency: tuple[int, ...] = ()
    each: int = EACH
    prompt_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True)
class Question:
    """``starts`` of each side."""

    engine: str
    sides: Sides
    bench: Bench
    sent: Sent
    starts: int

    @property
    def digest(self) -> str:
        """Of all that makes one start comparable with another; how many there are to be does not count."""
        plain = to_plain(self)
        del plain["starts"]
        return hashlib.sha256(canonical(plain).encode()).hexdigest()


def sent_of(run: Run, wish: Wish, bench: Bench, seed: int) -> Sent:
    """The scenario's requests as an engine's benchmark can send them: their mean lengths, drawn evenly around those, within the context.
    Raises `UsageError` where they do not fit it."""
    scenario = run.scenario
    limit, traffic = scenario.engine.context_length or scenario.model.context_length, scenario.traffic
    longest = 1 if bench is Bench.ONE_BATCH else 1 + SPREAD
    output = wish.output_tokens or round(mean_tokens(traffic.output, limit))
    room = int(limit / longest) - output - 1
    prompt = wish.prompt_tokens or min(room, round(mean_tokens(traffic.prompt, limit)))
    if not 0 < prompt <= room:
        raise UsageError(
            f"prompts of {prompt} and outputs of {output} tokens do not fit a context of {limit}: lengths are drawn to {longest:g} times "
            "their mean; set --prompt-tokens and --output-tokens"
        )
    concurrency = wish.concurrency or (traffic.concurrency,)
    requests = concurrency if bench is Bench.ONE_BATCH else tuple(max(wish.each * each, FEWEST) for each in concurrency)
    return Sent(bench.value, concurrency, requests, prompt, output, seed)

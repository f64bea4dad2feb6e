"""The pin that stands where a run will write its own: said before measuring where it answers another question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reports.wording import digest
from store.errors import PinError
from store.pins.pin import Requests, ValidFor
from store.pins.pin_files import read_pin
from store.runs.run import Run
from tuner.pin import valid_for

UNSET = "unset"
NARROW = "engine.allow_fp8_kv"  # then the dtype of the KV cache is an answer, no question


def replaced(path: Path, run: Run) -> str | None:
    """The sentence to say before ``run`` replaces the pin at ``path``; None where it answers the same question, or there is none."""
    try:
        then = read_pin(path).valid_for
    except PinError:  # nothing there, or nothing that can be read
        return None
    changed = ", ".join(changes(then, valid_for(run, None)))
    return f"the pin at {path} was made for another scenario ({changed}) and will be replaced; pin.path=FILE keeps it" if changed else None


def changes(then: ValidFor, now: ValidFor) -> list[str]:
    """What was asked otherwise, as "traffic.concurrency 64 -> 128"; of an early pin, which kept less, only what it kept."""
    before = asked(then)
    kept = replace(now, model_config=now.model_config if then.model_config else None)
    after = asked(kept if then.requests else replace(kept, requests=None, settings=()))
    keys = dict.fromkeys((*before, *after))
    return [f"{key} {before.get(key, UNSET)} -> {after.get(key, UNSET)}" for key in keys if before.get(key) != after.get(key)]


def asked(holds: ValidFor) -> dict[str, str]:
    """The question a pin answers, by the keys a user writes where there are such."""
    return {
        "gpu": holds.gpu,
        "engine": holds.engine,
        "engine.tensor_parallel": str(holds.tensor_parallel),
        **({} if dict(holds.settings).get(NARROW) else {"KV cache": holds.kv_cache_dtype}),
        "model": holds.model,
        **({"config.json": digest(holds.model_config)} if holds.model_config else {}),
        "traffic": holds.traffic,
        **(_numbers(holds.requests) if holds.requests else {}),
        **dict(holds.settings),
    }


def _numbers(load: Requests) -> dict[str, str]:
    return {
        "traffic.concurrency": str(load.concurrency),
        "traffic.prompt.median_tokens": str(load.prompt.median_tokens),
        "traffic.prompt.p95_tokens": str(load.prompt.p95_tokens),
        "traffic.output.median_tokens": str(load.output.median_tokens),
        "traffic.output.p95_tokens": str(load.output.p95_tokens),
        "traffic.cached_share": str(load.cached_share),
    }

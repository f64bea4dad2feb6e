"""Which fields of a row say what: public layouts by their own names, everything else by the names that are usual or given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tuner.errors import UsageError
from tuner.traffic.instants import UNITS

THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")  # 12,345: as spreadsheets write large numbers; to leave these out would leave small ones
MOST_TOKENS = 10_000_000  # of a request: above any context there is


@dataclass(frozen=True)
class Columns:
    """Names of fields; a dot goes into a nested one. None = there is none. ``blocks``: ids of a prompt's blocks, equal ones hold the
    same tokens. ``unit``: of times that count from a start."""

    arrival: str | None = None
    prompt: str | None = None
    output: str | None = None
    cached: str | None = None
    blocks: str | None = None
    unit: str | None = None


LAYOUTS = {
    "Mooncake": Columns("timestamp", "input_length", "output_length", None, "hash_ids", "ms"),
    "Azure": Columns("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    "BurstGPT": Columns("Timestamp", "Request tokens", "Response tokens", unit="s"),
}
USUAL = {
    "arrival": (
        *("arrival_s", "arrival_time", "arrived_at", "arrival", "timestamp", "start_time", "request_time", "created_at", "created", "time"),
        *("@timestamp", "ts"),
    ),
    "prompt": (
        *("prompt_tokens", "input_tokens", "prompt_len", "input_len", "prompt_length", "input_length", "num_prompt_tokens"),
        *("num_prefill_tokens", "context_tokens", "usage.prompt_tokens", "usage.input_tokens", "meta_info.prompt_tokens"),
    ),
    "output": (
        *("output_tokens", "completion_tokens", "generated_tokens", "output_len", "output_length", "response_tokens"),
        *("num_decode_tokens", "num_generation_tokens", "usage.completion_tokens", "usage.output_tokens", "meta_info.completion_tokens"),
    ),
    "cached": (
        *("cached_tokens", "cached_prompt_tokens", "prefix_tokens", "cache_hit_tokens", "usage.prompt_tokens_details.cached_tokens"),
        "meta_info.cached_tokens",
    ),
}


def layout_of(row: Mapping[str, Any], given: Columns) -> tuple[str, Columns] | None:
    """The layout's name with its columns, those ``given`` first; None where ``row`` has no lengths in tokens. Raises `UsageError` for a
    given name that it lacks."""
    for field in fields(Columns):
        named = getattr(given, field.name)
        if field.name != "unit" and named is not None and at(row, named) is None:
            there = ", ".join(list(row)[:12])
            raise UsageError(f"traffic.trace.columns.{field.name}={named} is not in the first row, which has {there}; name one of them")
    public = next(((name, its) for name, its in LAYOUTS.items() if {its.arrival, its.prompt, its.output} <= row.keys()), None)
    layout, known = public or ("columns", Columns(**{each: _usual(row, names) for each, names in USUAL.items()}))
    merged = Columns(*(getattr(given, field.name) or getattr(known, field.name) for field in fields(Columns)))
    return (layout, merged) if merged.prompt and merged.output else None


def _usual(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if at(row, name) is not None), None)


def at(row: Mapping[str, Any], name: str) -> Any:
    """None where there is nothing of that name."""
    if name in row:
        return row[name]
    found: Any = row
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def unit_s(columns: Columns) -> float | None:
    return None if columns.unit is None else UNITS[columns.unit]


def tokens(value: Any, what: str, least: int) -> int | str:
    """A length, or why ``value`` is none."""
    if isinstance(value, bool) or value is None or value == "":
        return f"no {what} tokens are given"
    if isinstance(value, str) and THOUSANDS.fullmatch(value.strip()):
        value = value.replace(",", "")
    try:
        number = float(value)
    except (TypeError, ValueError):
        return f"{what} tokens are no number"
    if number != number or number in (float("inf"), float("-inf")) or number != int(number):
        return f"{what} tokens are no whole number"
    if number < 0:
        return f"{what} tokens are negative"
    if number < least:
        return f"no {what} tokens: a request that failed"
    return f"more than {MOST_TOKENS} {what} tokens" if number > MOST_TOKENS else int(number)

"""The work of a server in words."""

from __future__ import annotations

from reports import numbers, wording
from store.serving.triaged import Load, Pace


def state(load: Load) -> str:
    """Batch, contexts, queue and pool in a clause."""
    tokens = f", {load.tokens_per_request} tokens each" if load.tokens_per_request is not None else ""
    usage = f", {numbers.percent(load.usage)} of the KV pool" if load.usage is not None else ""
    return f"{wording.count(load.batch, 'request')} at once{tokens}{waiting(load)}{usage}"


def waiting(load: Load) -> str:
    return f", {load.queued} waiting" if load.queued is not None else ""


def outside(load: Load) -> str:
    """How many decode lines say that no graph was replayed."""
    lines = sum(count for _, count in load.outside)
    share = f" ({numbers.percent(lines / load.told)})" if load.told else ""
    return f"{lines} of {load.told} decode lines{share} say that no graph was replayed" if load.told else "the log does not say"


def pace(found: Pace) -> str:
    least, most = found.batch
    batch = wording.count(least, "request") if least == most else f"{least} to {most} requests"
    when = "before the last start" if found.restarted else "earlier"
    return (
        f"{numbers.milliseconds(found.now_ms)} a token at {batch} ({found.now_lines} lines), "
        f"{numbers.milliseconds(found.before_ms)} {when} ({found.before_lines} lines), ratio {numbers.ratio(found.ratio)}"
    )

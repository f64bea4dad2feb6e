"""The limits of every backend as one Markdown table: the data that decides, in the words a reader needs."""

from __future__ import annotations

from collections.abc import Iterable

from backends.capability import BackendEntry
from backends.limits import Limit, listed
from reports.page import escaped

COLUMNS = {
    "devices": ("device",),
    "architectures": ("sm", "cuda", "cpu"),
    "models": ("architecture", "attention"),
    "head dims, K/V widths, groups": ("head_dim", "widths", "group", "query_heads", "shared_memory_kib"),
    "dtypes": ("dtype", "kv_dtype", "kv_flag"),
    "page sizes": ("page_size",),
    "speculation": ("speculation", "topk"),
    "phases": ("phase",),
}
REFUSED = {"widths": "unequal K/V widths", "speculation": "speculative decoding"}
# Things a backend takes unless a limit refuses them.
TAKES = ("sinks", "soft_cap", "sliding_window", "deterministic", "radix_cache", "cross_attention", "encoder_only", "multi_item_scoring")


def render(entries: Iterable[BackendEntry], rules: str) -> str:
    """Backends that the rule set ``rules`` knows, in the order given. An empty cell: no limit is known."""
    header = ("backend", *COLUMNS, "does not take", "CUDA graphs", "driven on")
    rows = [_row(entry, rules) for entry in entries if rules in entry.capability.versions]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ("---",) * len(header), *rows)) + "\n"


def _row(entry: BackendEntry, rules: str) -> tuple[str, ...]:
    limits = [limit for limit in entry.capability.limits if rules in limit.versions]
    names = ", ".join((entry.name, *(f"{alias} (alias)" for alias in entry.aliases)))
    devices = dict.fromkeys(device for driver in entry.drivers for device in driver.devices)
    refused = "; ".join(f"{limit.rule.replace('_', ' ')}{_scope(limit)}" for limit in limits if limit.rule in TAKES)
    columns = (names, *(_cell(limits, column) for column in COLUMNS.values()), refused, "yes" if entry.graph else "no", ", ".join(devices))
    return tuple(escaped(column) for column in columns)


def _cell(limits: Iterable[Limit], column: tuple[str, ...]) -> str:
    return "; ".join(_allowed(limit) for limit in limits if limit.rule in column)


def _allowed(limit: Limit) -> str:
    allowed = listed(limit.rule, limit.allowed) if limit.allowed else f"no {REFUSED.get(limit.rule, limit.rule)}"
    changed = f" (else {limit.becomes})" if limit.becomes is not None else ""
    return allowed + changed + _scope(limit)


def _scope(limit: Limit) -> str:
    return f" for {' and '.join(listed(rule, items) for rule, items in limit.when)}" if limit.when else ""

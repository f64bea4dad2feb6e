"""Every cell in which SGLang's documentation, its docstrings and its code differ: as written down, and as the limits show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.capability import BackendEntry
from store.engines.drift import Drift, Said
from tuner.doctor.known import read_known
from tuner.drifting.compare import differences
from tuner.drifting.matrix import PAGE, DocsRow


def drift_of(entries: Iterable[BackendEntry], rules: str, config_dir: str | None = None) -> tuple[Drift, ...]:
    """``rules`` is the rule set whose code is compared; ``config_dir`` may add to what is written down."""
    named = {entry.name: entry for entry in entries}
    rows = read_known("docs_matrix", DocsRow, config_dir)
    written = (one for one in read_known("drift", Drift, config_dir) if not one.rules or rules in one.rules)
    return (*written, *_removed(rows, named, rules), *_unlisted(rows, named, rules), *differences(rows, named, rules))


def _removed(rows: Iterable[DocsRow], named: dict[str, BackendEntry], rules: str) -> Iterator[Drift]:
    for row in rows:
        entry = named.get(row.backend)
        if entry is not None and rules not in entry.capability.versions:
            rejected = Said("rejected: no such backend", entry.capability.history or "sglang/srt/arg_groups/choices.py")
            yield Drift(f"removed-{row.backend}", f"the name {row.backend}", rejected, docs=Said("listed", row.where))


def _unlisted(rows: Iterable[DocsRow], named: dict[str, BackendEntry], rules: str) -> Iterator[Drift]:
    listed = {row.backend for row in rows}
    for name, entry in named.items():
        if name not in listed and rules in entry.capability.versions:
            accepted = Said("accepted", "sglang/srt/arg_groups/choices.py, ATTENTION_BACKEND_CHOICES")
            yield Drift(f"unlisted-{name}", f"the name {name}", accepted, docs=Said("not in the matrix", PAGE))

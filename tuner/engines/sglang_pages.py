"""The page size SGLang ends up with: one for the whole server, changed silently to what a chosen backend needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.limits import misfits
from backends.question import Question

DEFAULT_PAGE_SIZE = 1  # sglang/srt/arg_groups/overrides.py, _page_size_default (off MUSA and ROCm's vectorised layout)


def effective_page_size(serving: Sequence[tuple[BackendEntry, Phase]], question: Question) -> int:
    """The page size once every backend that serves has had its say, from the one in ``question``.

    Source: sglang/srt/arg_groups/overrides.py, _mla_backend_page_constraints, _fa4_page_constraint,
    _intel_xpu_page_constraint: each later rule sees what the earlier one left.
    """
    for entry, phase in serving:
        question = replace(question, phase=phase, page_size=_forced(entry, replace(question, phase=phase)))
    return question.page_size


def _forced(entry: BackendEntry, question: Question) -> int:
    forced = [
        limit.becomes
        for limit in entry.capability.limits
        if limit.becomes is not None and any(misfits(limit, question, layer) for layer in question.layers)
    ]
    return forced[-1] if forced else question.page_size

"""States of recurrent layers in the prefix cache: plain, or snapshot (extra_buffer) so that scheduling overlaps and pages are possible."""

from __future__ import annotations

from tuner.engines.sglang.resolver.architectures import EXTRA_BUFFER, INKLING, MAMBA
from tuner.engines.sglang.resolver.conditions import RADIX, architecture
from tuner.engines.sglang.resolver.record import Condition, Rule, Step, sets

PASS = "sglang/srt/arg_groups/overrides.py, _mamba_radix_cache_resolution"

RECURRENT = Condition(
    "recurrent layers with a state cache",
    lambda r, s: (
        r.model.architecture in MAMBA[r.version] or (r.model.architecture == "GraniteMoeHybridForCausalLM" and r.model.mamba_layers)
    ),
)

SNAPSHOTS = Condition(
    "states may be snapshot",
    lambda r, s: r.model.architecture in EXTRA_BUFFER[r.version] and (r.version == "0.5.16" or r.machine.kind != "xpu"),
)

AUTO = Condition("--mamba-radix-cache-strategy auto", lambda r, s: s.mamba_strategy == "auto")
WANTED = Condition("overlap or pages wanted", lambda r, s: s.overlap or (s.page_size or 1) > 1)

RESOLUTION = (
    Rule("mamba.uses", (RECURRENT, RADIX), sets(uses_mamba=True), "Prefixes of recurrent layers are states.", PASS),
    Rule(
        "mamba.inkling",
        (architecture(*INKLING), AUTO),
        sets(mamba_strategy="extra_buffer"),
        "Inkling needs states that are snapshot.",
        "sglang/srt/arg_groups/model_overrides/inkling.py, _inkling_overrides",
    ),
    Rule(
        "mamba.inkling-uses",
        (architecture(*INKLING), RADIX),
        sets(uses_mamba=True),
        "Inkling's short convolutions keep states.",
        "sglang/srt/arg_groups/model_overrides/inkling.py, _inkling_overrides",
        since="0.5.22",
    ),
    Rule(
        "mamba.snapshots",
        (RECURRENT, RADIX, AUTO, WANTED, SNAPSHOTS),
        sets(mamba_strategy="extra_buffer"),
        "Overlap and pages need states that are snapshot.",
        PASS,
    ),
    Rule(
        "mamba.plain",
        (RECURRENT, RADIX, AUTO),
        sets(mamba_strategy="no_buffer", overlap=False),
        "Where states cannot be snapshot, the scheduler does not overlap.",
        PASS,
    ),
)

STEPS = (Step("state cache", RESOLUTION),)

"""What a state cache of either kind cannot be combined with."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import OVERLAP, XPU, base, no
from tuner.engines.sglang.resolver.features.mamba import SNAPSHOTS
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step

EXTRA = "sglang/srt/arg_groups/mamba_hook.py, validate_mamba_extra_buffer"
PLAIN = "sglang/srt/arg_groups/mamba_hook.py, validate_mamba_no_buffer"
TRACK_INTERVAL = 256  # --mamba-track-interval's default
STRATEGIES = ("extra_buffer", "extra_buffer_lazy")
SNAPSHOT = Condition("snapshots", lambda r, s: s.radix_cache and s.mamba_strategy in STRATEGIES)
USES = Condition("a state cache", lambda r, s: s.uses_mamba)

CHECKS = (
    Rule(
        "mamba.no-states",
        (no(USES), SNAPSHOT),
        Refuses(
            "{r.model.architecture} has no recurrent states; drop --mamba-radix-cache-strategy {s.mamba_strategy}", "needs mamba state"
        ),
        "There is nothing to snapshot.",
        "sglang/srt/arg_groups/model_hook.py, handle_mamba_radix_cache",
        since="0.5.22",
    ),
    Rule(
        "mamba.no-snapshots",
        (USES, SNAPSHOT, no(SNAPSHOTS)),
        Refuses(
            "{r.model.architecture} cannot snapshot its states; set --mamba-radix-cache-strategy no_buffer",
            "extra_buffer is not supported for",
        ),
        "Its layers write no snapshots.",
        EXTRA,
    ),
    Rule(
        "mamba.snapshot-platform",
        (USES, SNAPSHOT, Condition("a CPU, Mac or Gaudi", lambda r, s: r.machine.kind in ("cpu", "mps", "hpu"))),
        Refuses("states are not snapshot on this platform; set --mamba-radix-cache-strategy no_buffer", "extra_buffer "),
        "The kernels are for GPUs and NPUs.",
        EXTRA,
    ),
    Rule(
        "mamba.snapshot-xpu",
        (USES, SNAPSHOT, XPU),
        Refuses("states are not snapshot on an XPU; set --mamba-radix-cache-strategy no_buffer", "extra_buffer "),
        "The kernels are for GPUs and NPUs.",
        EXTRA,
        until="0.5.16",
    ),
    Rule(
        "mamba.lazy-role",
        (
            USES,
            SNAPSHOT,
            Condition(
                "lazy snapshots in a disaggregated deployment", lambda r, s: s.mamba_strategy == "extra_buffer_lazy" and r.role != "unified"
            ),
        ),
        Refuses(
            "lazy snapshots do not go with disaggregation; set --mamba-radix-cache-strategy extra_buffer",
            "extra_buffer_lazy unsupported under PD",
        ),
        "The decode side has no lazy slots.",
        EXTRA,
        since="0.5.22",
    ),
    Rule(
        "mamba.lazy-drafts",
        (
            USES,
            SNAPSHOT,
            Condition(
                "lazy snapshots with draft tokens", lambda r, s: s.mamba_strategy == "extra_buffer_lazy" and s.draft_tokens is not None
            ),
        ),
        Refuses(
            "lazy snapshots do not go with speculation; set --mamba-radix-cache-strategy extra_buffer",
            "extra_buffer_lazy unsupported with spec",
        ),
        "A verify step would skip them.",
        EXTRA,
        until="0.5.16",
    ),
    Rule(
        "mamba.snapshot-drafts",
        (USES, SNAPSHOT, Condition("more draft tokens than the track interval", lambda r, s: (s.draft_tokens or 0) > TRACK_INTERVAL)),
        Refuses("{s.draft_tokens} draft tokens exceed --mamba-track-interval; raise it", ""),
        "A snapshot every 256 tokens would lie inside a draft.",
        EXTRA,
    ),
    Rule(
        "mamba.snapshot-page",
        (
            USES,
            SNAPSHOT,
            Condition(
                "a page that does not divide the track interval", lambda r, s: s.page_size is not None and TRACK_INTERVAL % s.page_size != 0
            ),
        ),
        Refuses("page size {s.page_size} does not divide --mamba-track-interval 256; choose one that does", ""),
        "Snapshots lie on page boundaries.",
        EXTRA,
    ),
    Rule(
        "mamba.plain-page",
        (USES, no(SNAPSHOT), Condition("pages", lambda r, s: s.page_size not in (1, None))),
        Refuses(
            "without snapshots page size {s.page_size} cannot be; drop --page-size or set --mamba-radix-cache-strategy extra_buffer",
            "no_buffer only supports page_size=1",
        ),
        "States are kept token by token.",
        PLAIN,
    ),
    Rule(
        "mamba.plain-overlap",
        (USES, no(SNAPSHOT), OVERLAP),
        Refuses(
            "without snapshots the scheduler cannot overlap; add --disable-overlap-schedule", "no_buffer do not support overlap schedule"
        ),
        "A state would be overwritten too early.",
        PLAIN,
    ),
    Rule(
        "mamba.plain-trtllm",
        (USES, no(SNAPSHOT), base("trtllm_mha")),
        Refuses(
            "without snapshots trtllm_mha cannot serve; choose another backend or --mamba-radix-cache-strategy extra_buffer",
            "no_buffer do not support trtllm_mha",
        ),
        "It needs pages.",
        PLAIN,
    ),
)

STEPS = (Step("state cache checks", CHECKS),)

"""`--enable-mis`, multi-item scoring."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import RADIX
from tuner.engines.sglang.resolver.graphs import GRAPHS_OFF
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

MIS = "sglang/srt/arg_groups/attention_hook.py, handle_multi_item_scoring"

MIS_RULES = (
    Rule("mis.graphs", (), GRAPHS_OFF, "Masks between items cannot be captured.", MIS),
    Rule("mis.radix", (RADIX,), sets(radix_cache=False), "Items of one request must not be taken for a prefix.", MIS),
    Rule("mis.chunks", (), sets(chunk=-1), "A request's items are masked against one another in one piece.", MIS),
    Rule(
        "mis.backend",
        (Condition("a side other than flashinfer", lambda r, s: s.sides != ("flashinfer", "flashinfer")),),
        Refuses(
            "--enable-mis runs on flashinfer, not prefill {s.prefill_side}, decode {s.decode_side}; set --attention-backend flashinfer",
            "Multi-item scoring requires flashinfer",
        ),
        "Only FlashInfer takes its masks.",
        MIS,
    ),
)

MIS_ON = Condition("--enable-mis", lambda r, s: r.multi_item_scoring)
STEPS = (Step("multi-item scoring", MIS_RULES, when=(MIS_ON,)),)

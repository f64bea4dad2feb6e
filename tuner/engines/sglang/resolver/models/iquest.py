"""IQuest-Q1, which takes fa3 alone."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, PIPELINE, SPECULATION, UNSET, architecture
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

IQUEST = "sglang/srt/arg_groups/model_overrides/iquest_q1.py, _iquest_q1_overrides"

IQUEST_RULES = (
    Rule(
        "iquest.other-backend",
        (Condition("a backend other than fa3 written", lambda r, s: {s.base, s.prefill, s.decode} - {None, "fa3"} != set()),),
        Refuses("IQuest-Q1 runs on fa3 only; drop the backend flags", "requires FA3 attention for both"),
        "It takes its sinks from fa3's log-sum-exp.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.algorithm",
        (SPECULATION, Condition("another draft than EAGLE or NEXTN", lambda r, s: (s.algorithm or "").upper() not in ("EAGLE", "NEXTN"))),
        Refuses("IQuest-Q1 drafts with EAGLE or NEXTN only, not {s.algorithm}", "requires serial EAGLE or NEXTN"),
        "Its draft layers are chained.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.draft-backend",
        (SPECULATION, Condition("a draft backend other than fa3", lambda r, s: s.draft not in (None, "fa3"))),
        Refuses(
            "IQuest-Q1's draft runs on fa3 only; drop --speculative-draft-attention-backend", "requires FA3 attention for the MTP draft"
        ),
        "It takes its sinks from fa3's log-sum-exp.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.context-split",
        (Condition("context parallelism", lambda r, s: r.attn_cp > 1 or r.dcp > 1),),
        Refuses("IQuest-Q1 takes no context parallelism; drop --attn-cp-size and --dcp-size", "does not support context parallelism"),
        "Its sinks belong to whole rows.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.tree",
        (Condition("topk above 1", lambda r, s: (s.topk or 0) > 1),),
        Refuses("IQuest-Q1 drafts in a chain; set --speculative-eagle-topk 1", "requires --speculative-eagle-topk 1"),
        "Its draft layers are chained.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.dp",
        (ATTN_DP,),
        Refuses("IQuest-Q1 takes no attention data parallelism; drop --attn-dp-size", "does not support DP attention"),
        "Its attention heads are split over all ranks.",
        IQUEST,
        since="0.5.22",
    ),
    Rule(
        "iquest.pipeline",
        (PIPELINE,),
        Refuses("IQuest-Q1 takes no pipeline parallelism; drop --pp-size", "does not support pipeline parallelism"),
        "Its residuals cross stages.",
        IQUEST,
        since="0.5.22",
    ),
    Rule("iquest.backend", (UNSET,), sets(base="fa3"), "It takes its sinks from fa3's log-sum-exp.", IQUEST, since="0.5.22"),
    Rule(
        "iquest.other-side",
        (Condition("base unset and one side unset", lambda r, s: s.base is None and None in (s.prefill, s.decode)),),
        sets(prefill="fa3", decode="fa3"),
        "The side left out gets fa3 too.",
        IQUEST,
        since="0.5.22",
    ),
)

STEPS = (Step("IQuest-Q1", IQUEST_RULES, when=(architecture("IQuestQ1ForCausalLM", "IQuestQ1MTP"),)),)

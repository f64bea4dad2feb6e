"""`--enable-unified-memory`: one pool for keys and states."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import DISAGGREGATED, MLA, SPECULATION, UNEQUAL_WIDTHS, decode_side, no
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

MAJOR = "sglang/srt/arg_groups/kv_cache_hook.py, handle_page_major_kv_layout"
UNIFIED = "sglang/srt/arg_groups/kv_cache_hook.py, handle_unified_memory_pool"
UNIFIED_MLA = ("triton", "fa3", "trtllm_mla", "flashinfer", "cutedsl_mla", "flashmla")
UNIFIED_MHA = ("triton", "fa3", "fa4", "flashinfer", "trtllm_mha")
CARRY_WIDTHS = ("triton", "fa3", "fa4")


def _sides_outside(*names: str) -> Condition:
    return Condition(f"a side other than {' or '.join(names)}", lambda r, s: not set(s.sides) <= set(names))


def _unified(rule: str, when: tuple[Condition, ...], allowed: tuple[str, ...], since: str, until: str | None = None) -> Rule:
    text = (
        "--enable-unified-memory serves on {names} here, not prefill {{s.prefill_side}}, decode {{s.decode_side}}; set --attention-backend"
    )
    says = "requires the Triton attention backend" if until == "0.5.16" else "are not in the allowed set"
    return Rule(
        rule,
        (*when, _sides_outside(*allowed)),
        Refuses(text.format(names=", ".join(allowed)), says),
        "Only these read the pool's strided views.",
        MAJOR,
        since,
        until,
    )


BACKENDS = (
    _unified("unified.triton", (), ("triton",), "0.5.16", "0.5.16"),
    Rule(
        "unified.widths",
        (no(MLA), UNEQUAL_WIDTHS),
        Refuses("--enable-unified-memory takes no unequal widths of K and V; drop it", "does not yet admit asymmetric"),
        "The pool's views were not checked for them.",
        MAJOR,
        since="0.5.22",
        until="0.5.22",
    ),
    _unified("unified.widths-backend", (no(MLA), UNEQUAL_WIDTHS), CARRY_WIDTHS, "0.5.23"),
    _unified("unified.mla-old", (MLA,), (*UNIFIED_MLA, "tokenspeed_mla"), "0.5.22", "0.5.22"),
    _unified("unified.mla", (MLA,), UNIFIED_MLA, "0.5.23"),
    _unified("unified.mha", (no(MLA),), UNIFIED_MHA, "0.5.22"),
)

COMPANIONS = (
    Rule(
        "unified.role",
        (DISAGGREGATED,),
        Refuses("--enable-unified-memory does not go with disaggregation; drop one", "is not yet compatible with PD"),
        "Slots are not numbered alike on both sides.",
        UNIFIED,
        until="0.5.16",
    ),
    Rule(
        "unified.speculation",
        (SPECULATION,),
        Refuses("--enable-unified-memory does not go with speculation; drop one", "is not yet compatible with speculative"),
        "Drafts number their slots otherwise.",
        UNIFIED,
        until="0.5.16",
    ),
    Rule(
        "unified.piecewise",
        (Condition("a piecewise prefill graph", lambda r, s: s.prefill_graph == "tc_piecewise"),),
        Refuses(
            "--enable-unified-memory captures no piecewise prefill; add --disable-prefill-cuda-graph",
            "supports monolithic (decode) cuda-graph capture only",
        ),
        "Its pieces would replay with old slots.",
        UNIFIED,
        until="0.5.16",
    ),
    Rule(
        "unified.algorithm",
        (
            Condition(
                "another algorithm than DSPARK, EAGLE, EAGLE3, DFLASH",
                lambda r, s: s.algorithm not in (None, "DSPARK", "EAGLE", "EAGLE3", "DFLASH"),
            ),
        ),
        Refuses("--enable-unified-memory does not go with {s.algorithm}; drop one", "only supports --speculative-algorithm"),
        "The others number their slots otherwise.",
        UNIFIED,
        since="0.5.22",
    ),
    Rule(
        "unified.tree",
        (Condition("a draft tree", lambda r, s: s.topk not in (None, 1)),),
        Refuses(
            "--enable-unified-memory takes no draft tree (topk {s.topk}); set --speculative-eagle-topk 1",
            "supports a linear draft chain only",
        ),
        "It moves whole pages only.",
        UNIFIED,
        since="0.5.22",
    ),
    Rule(
        "unified.full-graph",
        (Condition("a full prefill graph off fa3 and fa4", lambda r, s: s.prefill_graph == "full" and not set(s.sides) <= {"fa3", "fa4"}),),
        sets(prefill_graph="disabled"),
        "Only these build its tables for a captured prefill.",
        UNIFIED,
        since="0.5.22",
    ),
    Rule(
        "unified.trtllm-graph",
        (decode_side("trtllm_mha"), Condition("a decode graph", lambda r, s: s.decode_graph != "disabled")),
        Refuses(
            "--enable-unified-memory does not capture trtllm_mha's decode; add --disable-decode-cuda-graph or choose another backend",
            "does not yet support decode cuda graphs",
        ),
        "A replay would read the lengths of the step before.",
        UNIFIED,
        since="0.5.22",
        until="0.5.22",
    ),
)

UNIFIED_ON = Condition("--enable-unified-memory", lambda r, s: r.unified_memory)
STEPS = (Step("unified memory: backends", BACKENDS, when=(UNIFIED_ON,)), Step("unified memory", COMPANIONS, when=(UNIFIED_ON,)))

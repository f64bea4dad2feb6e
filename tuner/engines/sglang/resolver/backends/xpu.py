"""Intel's XPU: a context split over ranks, and its page sizes."""

from __future__ import annotations

from tuner.engines.sglang.resolver.backends.pages import _page_outside
from tuner.engines.sglang.resolver.conditions import DCP, MLA, SPECULATION, UNEQUAL_WIDTHS, XPU, decode_side, no, prefill_side
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility"
ON_XPU = Condition("a side served by intel_xpu", lambda r, s: "intel_xpu" in s.sides)
XPU_DCP = "sglang/srt/arg_groups/attention_hook.py, _check_xpu_dcp"
XPU_PAGE = "sglang/srt/arg_groups/overrides.py, _intel_xpu_page_constraint"

XPU_SPLIT = (
    Rule(
        "xpu.split-backend",
        (Condition("a side other than intel_xpu", lambda r, s: set(s.sides) != {"intel_xpu"}),),
        Refuses("--dcp-size on an XPU needs --attention-backend intel_xpu", "needs --attention-backend intel_xpu"),
        "No other backend merges the ranks' parts there.",
        XPU_DCP,
        since="0.5.22",
    ),
    Rule(
        "xpu.split-mla",
        (MLA,),
        Refuses("--dcp-size on an XPU takes no MLA model; drop it", "not supported for MLA models on Intel XPU"),
        "Its MLA kernel merges no parts.",
        XPU_DCP,
        since="0.5.22",
    ),
    Rule(
        "xpu.split-widths",
        (UNEQUAL_WIDTHS,),
        Refuses("--dcp-size on an XPU needs K and V of equal width; drop it", "needs equal K and V head dims"),
        "Rows of other ranks would be written.",
        XPU_DCP,
        since="0.5.22",
    ),
    Rule(
        "xpu.split-ranks",
        (Condition("ranks that do not divide", lambda r, s: r.tensor_parallel % r.dcp != 0),),
        Refuses("--dcp-size {r.dcp} does not divide --tp-size {r.tensor_parallel}; change one", "must divide --tp-size"),
        "A context is split within groups of ranks.",
        XPU_DCP,
        since="0.5.22",
    ),
    Rule(
        "xpu.split-heads",
        (
            Condition(
                "KV heads that the groups do not share",
                lambda r, s: (
                    max(1, r.model.kv_heads // max(1, r.tensor_parallel // r.dcp)) != max(1, r.model.kv_heads // r.tensor_parallel)
                ),
            ),
        ),
        Refuses(
            "--dcp-size {r.dcp} at --tp-size {r.tensor_parallel} splits KV heads that every rank of a group must hold; lower --dcp-size",
            "needs each rank to hold",
        ),
        "Ranks of a group must hold the same KV heads.",
        XPU_DCP,
        since="0.5.22",
    ),
    Rule(
        "xpu.split-drafts",
        (SPECULATION,),
        Refuses("--dcp-size on an XPU takes no speculation; drop one", "with speculative decoding is not supported"),
        "Its draft kernels merge no parts.",
        XPU_DCP,
        since="0.5.22",
    ),
)

XPU_PAGES = (
    Rule(
        "xpu.mla-prefill",
        (MLA, prefill_side("intel_xpu")),
        Refuses(
            "intel_xpu decodes MLA only; set --decode-attention-backend intel_xpu and leave prefill to triton",
            "only supported on decode for MLA",
        ),
        "Its MLA prefill came later.",
        HOOK,
        until="0.5.16",
    ),
    Rule(
        "xpu.page-old",
        (decode_side("intel_xpu"), no(MLA), _page_outside(64, 128)),
        sets(page_size=128),
        "The XPU's kernel takes pages of 64 or 128.",
        XPU_PAGE,
        until="0.5.16",
    ),
    Rule(
        "xpu.page-mla-old",
        (decode_side("intel_xpu"), MLA, _page_outside(16, 32, 64, 128)),
        sets(page_size=128),
        "The XPU's MLA kernel takes pages of 16 to 128.",
        XPU_PAGE,
        until="0.5.16",
    ),
    Rule(
        "xpu.page",
        (ON_XPU, no(MLA), _page_outside(64, 128)),
        sets(page_size=128),
        "The XPU's kernel takes pages of 64 or 128.",
        XPU_PAGE,
        since="0.5.22",
    ),
    Rule(
        "xpu.page-mla",
        (ON_XPU, MLA, _page_outside(16, 32, 64, 128)),
        sets(page_size=128),
        "The XPU's MLA kernel takes pages of 16 to 128.",
        XPU_PAGE,
        since="0.5.22",
    ),
)

STEPS = (Step("context split over ranks on an XPU", XPU_SPLIT, when=(XPU, DCP)), Step("XPU pages", XPU_PAGES))

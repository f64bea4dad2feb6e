"""CUDA graphs as written, and as a server's role leaves them."""

from __future__ import annotations

from tuner.engines.sglang.resolver import architectures
from tuner.engines.sglang.resolver.conditions import architecture
from tuner.engines.sglang.resolver.record import Computes, Condition, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/cuda_graph_hook.py"
PARSE = f"{HOOK}, parse_cuda_graph_config"
GRAPHS_OFF = sets(decode_graph="disabled", prefill_graph="disabled")
INKLING = architecture(*architectures.INKLING)

WRITTEN = (
    Rule(
        "graph.off",
        (Condition("--disable-cuda-graph", lambda r, s: r.graphs.off),),
        sets(decode_graph="disabled", prefill_graph="disabled", decode_graph_fixed=True, prefill_graph_fixed=True),
        "The old switch turns both phases off, below every newer flag.",
        PARSE,
    ),
    Rule(
        "graph.prefill-off",
        (Condition("--disable-prefill-cuda-graph", lambda r, s: r.graphs.prefill_off),),
        sets(prefill_graph="disabled", prefill_graph_fixed=True),
        "A phase's own switch stands above the old one.",
        PARSE,
    ),
    Rule(
        "graph.decode-off",
        (Condition("--disable-decode-cuda-graph", lambda r, s: r.graphs.decode_off),),
        sets(decode_graph="disabled", decode_graph_fixed=True),
        "A phase's own switch stands above the old one.",
        PARSE,
    ),
    Rule(
        "graph.decode-written",
        (Condition("--cuda-graph-backend-decode", lambda r, s: r.graphs.decode is not None),),
        Computes("as written", lambda r, s: {"decode_graph": r.graphs.decode, "decode_graph_fixed": True}),
        "A named graph backend stands above the switches.",
        PARSE,
    ),
    Rule(
        "graph.prefill-written",
        (Condition("--cuda-graph-backend-prefill", lambda r, s: r.graphs.prefill is not None),),
        Computes("as written", lambda r, s: {"prefill_graph": r.graphs.prefill, "prefill_graph_fixed": True}),
        "A named graph backend stands above the switches and is checked by no compatibility rule.",
        PARSE,
    ),
    Rule(
        "graph.inkling",
        (INKLING, Condition("prefill graph not written", lambda r, s: r.graphs.prefill is None and not r.graphs.prefill_off)),
        sets(prefill_graph="full", prefill_graph_fixed=True),
        "Inkling captures prefill whole, which counts as chosen.",
        f"{HOOK}, apply_inkling_prefill_cuda_graph_default",
    ),
)

ROLES = (
    Rule(
        "graph.prefill-server",
        (Condition("prefill server", lambda r, s: r.role == "prefill" and not s.decode_graph_fixed),),
        sets(decode_graph="disabled"),
        "A prefill server decodes nothing.",
        f"{HOOK}, apply_cuda_graph_disaggregation_roles",
    ),
    Rule(
        "graph.decode-server",
        (Condition("decode server", lambda r, s: r.role == "decode" and not s.prefill_graph_fixed),),
        sets(prefill_graph="disabled"),
        "A decode server prefills nothing.",
        f"{HOOK}, apply_cuda_graph_disaggregation_roles",
    ),
)

WRITTEN_STEP = Step("graphs as written", WRITTEN)
ROLES_STEP = Step("graphs by role", ROLES)

"""The default is filled in, then some backends change graphs and the prefix cache.

Source: sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility, and the passes it runs.
"""

from __future__ import annotations

from tuner.engines.sglang.resolver import default_tree
from tuner.engines.sglang.resolver.conditions import BASE_UNSET, RADIX, SPECULATION, base
from tuner.engines.sglang.resolver.graphs import GRAPHS_OFF
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/attention_hook.py, handle_attention_backend_compatibility"
PASSES = "sglang/srt/arg_groups/overrides.py"
EQUAL_PAIR = Condition("prefill and decode set to the same", lambda r, s: s.prefill is not None and s.prefill == s.decode)

PAIR = Rule(
    "base.equal-pair",
    (EQUAL_PAIR,),
    Computes("base is that one", lambda r, s: {"base": s.prefill}),
    "An equal pair replaces the base, also one that was written.",
    f"{PASSES}, _attention_backend_default",
)

CHANGES = (
    Rule(
        "compat.torch-native-graphs",
        (base("torch_native"),),
        GRAPHS_OFF,
        "Loops over requests in Python cannot be captured; the split flags are not looked at.",
        HOOK,
    ),
    Rule(
        "compat.flex-graphs",
        (base("flex_attention"),),
        GRAPHS_OFF,
        "Masks rebuilt each step cannot be captured; the split flags are not looked at.",
        HOOK,
    ),
    Rule(
        "compat.flex-speculation",
        (base("flex_attention"), SPECULATION),
        Refuses(
            "flex_attention takes no speculative decoding; drop --speculative-algorithm or choose another backend",
            "not supported with Flex Attention",
        ),
        "It has no tree masks.",
        HOOK,
    ),
    Rule(
        "compat.whisper-radix",
        (default_tree.WHISPER, RADIX),
        sets(radix_cache=False),
        "Whisper pads encoder tokens, which do not mix with shared prefixes.",
        HOOK,
    ),
)

STEPS = (
    Step("equal pair", (PAIR,)),
    Step("default tree", default_tree.RULES, first=True, when=(BASE_UNSET,)),
    Step("what backends change", CHANGES),
)

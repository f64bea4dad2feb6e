"""Names of speculative algorithms."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import SPECULATION, algorithm, no
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets
from tuner.schema.engine import ALGORITHMS

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
KNOWN_22 = ALGORITHMS["sglang"]
KNOWN_16 = tuple(name for name in KNOWN_22 if name != "UNO")

NAMES = (
    Rule(
        "draft.upper",
        (Condition("lower-case letters", lambda r, s: s.algorithm is not None and s.algorithm != s.algorithm.upper()),),
        Computes("upper case", lambda r, s: {"algorithm": (s.algorithm or "").upper()}),
        "Names are compared in upper case from here on.",
        f"{HOOK}, handle_speculative_decoding",
    ),
    Rule(
        "draft.nextn",
        (algorithm("NEXTN"),),
        sets(algorithm="EAGLE"),
        "NEXTN is another name of EAGLE.",
        f"{HOOK}, _resolve_speculative_algorithm_alias",
    ),
    Rule(
        "draft.unknown-old",
        (SPECULATION, no(algorithm(*KNOWN_16))),
        Refuses("SGLang {r.version} knows no speculative algorithm {s.algorithm}; choose another", "Unknown speculative algorithm"),
        "A typing error, or an algorithm of another release.",
        "sglang/srt/speculative/spec_info.py, SpeculativeAlgorithm.from_string",
        until="0.5.16",
    ),
    Rule(
        "draft.unknown",
        (SPECULATION, no(algorithm(*KNOWN_22))),
        Refuses("SGLang {r.version} knows no speculative algorithm {s.algorithm}; choose another", "Unknown speculative algorithm"),
        "A typing error, or an algorithm of another release.",
        "sglang/srt/speculative/spec_info.py, SpeculativeAlgorithm.from_string",
        since="0.5.22",
    ),
)

STEPS = (Step("speculative algorithm", NAMES, when=(SPECULATION,)),)

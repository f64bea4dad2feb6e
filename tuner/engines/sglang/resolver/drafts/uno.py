"""UNO, which drafts with the target and an adapter."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import DETERMINISTIC, algorithm, no
from tuner.engines.sglang.resolver.drafts.dflash import CUDA_DEVICE
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
UNO = f"{HOOK}, _handle_uno"

UNO_RULES = (
    Rule(
        "uno.device",
        (no(CUDA_DEVICE),),
        Refuses("UNO drafts on CUDA devices only; drop --speculative-algorithm", "UNO only supports CUDA"),
        "Its kernels are written for these.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.model",
        (Condition("a draft model named", lambda r, s: r.draft.model),),
        Refuses("UNO drafts with the target itself; drop --speculative-draft-model-path", "UNO reuses the target model"),
        "There is no second model.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.lora",
        (Condition("no --uno-lora-path", lambda r, s: not r.draft.uno_lora),),
        Refuses("UNO needs its adapter; name it with --uno-lora-path", "UNO requires --uno-lora-path"),
        "The adapter makes the target a draft.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.deterministic",
        (DETERMINISTIC,),
        Refuses("UNO is not deterministic; drop --enable-deterministic-inference", "UNO does not support --enable-deterministic-inference"),
        "It samples without a seed per request.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.width",
        (Condition("draft tokens unset", lambda r, s: s.draft_tokens is None),),
        Refuses("UNO needs --speculative-num-draft-tokens; write it", "UNO requires --speculative-num-draft-tokens"),
        "It is the width of the verify step.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.tree-steps",
        (Condition("topk above 1 without steps", lambda r, s: (s.topk or 1) > 1 and s.steps is None),),
        Refuses("UNO as a tree needs --speculative-num-steps; write it", "UNO tree mode requires --speculative-num-steps"),
        "It is the depth of the tree.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.chain",
        (Condition("topk unset or 1", lambda r, s: (s.topk or 1) == 1),),
        sets(steps=1, topk=1),
        "A chain is one step of one branch.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.ranks",
        (Condition("more than one rank", lambda r, s: r.tensor_parallel > 1 or r.pipeline_parallel > 1),),
        Refuses("UNO serves on one rank; drop --tp-size and --pp-size", "UNO requires TP=PP=1"),
        "Its adapter is not split.",
        UNO,
        since="0.5.22",
    ),
    Rule(
        "uno.fa3",
        (Condition("a side other than fa3", lambda r, s: s.sides != ("fa3", "fa3")),),
        Refuses(
            "UNO runs on fa3 in both phases, not prefill {s.prefill_side}, decode {s.decode_side}; set --attention-backend fa3",
            "UNO requires FA3",
        ),
        "Only fa3 has its masks.",
        UNO,
        since="0.5.22",
    ),
)

STEPS = (Step("UNO drafts", UNO_RULES, when=(algorithm("UNO"),)),)

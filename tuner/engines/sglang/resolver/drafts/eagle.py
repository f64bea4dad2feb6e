"""EAGLE and its kin: what is left open is filled in, and pairs that cannot draft are refused."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import ATTN_DP, CPU, OVERLAP, algorithm, architecture, no
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Step, sets

HOOK = "sglang/srt/arg_groups/speculative_hook.py"
EAGLE = f"{HOOK}, _handle_eagle_family"
TREE_BACKENDS = ("flashinfer", "fa3", "triton")
WIDE_DRAFTS = ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM")
STEPS_UNSET = Condition("--speculative-num-steps unset", lambda r, s: s.steps is None)
TREE = Condition("a draft tree", lambda r, s: (s.topk or 0) > 1)
PAGES = Condition("pages above 1", lambda r, s: (s.page_size or 1) > 1)
ON_TRTLLM = Condition("a side served by trtllm_mha", lambda r, s: "trtllm_mha" in s.sides)
WIDE = Condition("Llama or Grok, not STANDALONE", lambda r, s: r.model.architecture in WIDE_DRAFTS and s.algorithm != "STANDALONE")
NO_DRAFT_MODEL = Condition("no draft model named", lambda r, s: not r.draft.model)

OPEN = (
    Rule(
        "draft.standalone-dp",
        (algorithm("STANDALONE"), ATTN_DP),
        Refuses(
            "STANDALONE takes no attention data parallelism; drop one", "standalone speculative decoding does not support dp attention"
        ),
        "Its draft is split over all ranks.",
        EAGLE,
    ),
    Rule(
        "draft.cpu-overlap",
        (CPU, OVERLAP),
        sets(overlap=False),
        "Drafting and scheduling do not overlap on a CPU.",
        f"{HOOK}, _disable_overlap_schedule_for_cpu",
    ),
    Rule(
        "draft.iquest",
        (architecture("IQuestQ1ForCausalLM"), NO_DRAFT_MODEL),
        Refuses(
            "IQuest-Q1 drafts with a checkpoint of its own; name it with --speculative-draft-model-path",
            "requires an independent draft model path",
        ),
        "Its draft layers are not part of the model.",
        f"{HOOK}, _handle_iquest_q1_mtp_draft",
        since="0.5.22",
    ),
    Rule(
        "draft.half-written",
        (STEPS_UNSET, Condition("topk or draft tokens written", lambda r, s: s.topk is not None or s.draft_tokens is not None)),
        Refuses("--speculative-num-steps is missing beside topk {s.topk} and {s.draft_tokens} draft tokens; write all three or none", ""),
        "SGLang fills in all three or none, and ends with a bare AssertionError.",
        EAGLE,
    ),
    Rule(
        "draft.wide",
        (STEPS_UNSET, WIDE),
        sets(steps=5, topk=4, draft_tokens=8),
        "Llama and Grok draft a tree of width 4 where nothing is written.",
        f"{HOOK}, _auto_choose_speculative_params",
    ),
    Rule(
        "draft.chain",
        (STEPS_UNSET, no(WIDE)),
        sets(steps=3, topk=1, draft_tokens=4),
        "Most models draft a chain of 3 where nothing is written.",
        f"{HOOK}, _auto_choose_speculative_params",
    ),
    Rule(
        "draft.no-topk",
        (Condition("topk unset beside steps", lambda r, s: s.topk is None),),
        Refuses("--speculative-eagle-topk is missing beside {s.steps} steps; write it", "not supported between instances of"),
        "SGLang compares the missing value with a number and ends with a TypeError.",
        EAGLE,
    ),
)

TREES = (
    Rule(
        "draft.trtllm-tree",
        (ON_TRTLLM, TREE),
        Refuses(
            "trtllm_mha takes no draft tree (topk {s.topk}); set --speculative-eagle-topk 1 or choose another backend",
            "trtllm_mha backend only supports topk = 1",
        ),
        "It has no tree masks.",
        EAGLE,
    ),
    Rule(
        "draft.chain-tokens",
        (Condition("topk 1 and draft tokens other than steps + 1", lambda r, s: s.topk == 1 and s.draft_tokens != (s.steps or 0) + 1),),
        Computes("steps + 1 draft tokens", lambda r, s: {"draft_tokens": (s.steps or 0) + 1}),
        "A chain verifies its steps and one more.",
        EAGLE,
    ),
    Rule(
        "draft.tree-pages",
        (TREE, PAGES, Condition(f"base other than {' or '.join(TREE_BACKENDS)}", lambda r, s: s.base not in TREE_BACKENDS)),
        Refuses(
            "{s.base} takes no draft tree (topk {s.topk}) with pages of {s.page_size}; set --page-size 1 or take flashinfer, fa3 or triton",
            "speculative_eagle_topk > 1 with page_size > 1 is only supported on",
        ),
        "A tree over pages needs a second pass, which these have.",
        EAGLE,
    ),
)

FAMILY = algorithm("EAGLE", "EAGLE3", "STANDALONE")
STEPS = (Step("EAGLE drafts", OPEN, when=(FAMILY,)), Step("EAGLE trees", TREES, when=(FAMILY,)))

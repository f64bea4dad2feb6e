"""SGLang's default attention backend, as its own decision tree: branches in order, the first that holds wins.

Source: sglang/srt/arg_groups/model_override_base.py, get_default_attn_backend (0.5.22); sglang/srt/server_args.py,
ServerArgs._get_default_attn_backend (0.5.16).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.gpu import Gpu
from backends.limits import release
from backends.model import Attention, Model
from backends.question import RULES
from store.scenario import Speculation

AITER_MLA_HEADS = (16, 128)


@dataclass(frozen=True)
class Situation:
    """What the tree looks at: settings as written, before the engine fills any in. ``flashinfer``: importable there."""

    model: Model
    gpu: Gpu
    tensor_parallel: int
    speculation: Speculation
    page_size: int | None
    flashinfer: bool
    rules: str

    def built_for(self, major: int, cuda: str) -> bool:
        """SGLang's platform probes: a compute capability major, and a CUDA no older (unknown counts as new enough)."""
        new_enough = self.gpu.cuda is None or release(self.gpu.cuda) >= release(cuda)
        return self.gpu.sm is not None and self.gpu.sm // 10 == major and new_enough

    @property
    def hopper(self) -> bool:
        return self.built_for(9, "12.3")

    @property
    def sm100(self) -> bool:
        return self.built_for(10, "12.8")

    @property
    def sm120(self) -> bool:
        return self.built_for(12, "12.8")

    @property
    def chain(self) -> bool:
        """`is_no_spec_infer_or_topk_one`: sglang/srt/utils/common.py."""
        topk = self.speculation.topk
        return topk is None or (topk == 1 and self.page_size in (None, 1))

    @property
    def final_drafts(self) -> bool:
        return self.speculation.algorithm is None or self.speculation.topk is not None

    @property
    def asymmetric(self) -> bool:
        return any(kind.head_dim != kind.value_head_dim for kind in self.model.layers)

    @property
    def rank_heads(self) -> int:
        return self.model.layers[0].query_heads // self.tensor_parallel


@dataclass(frozen=True)
class Branch:
    """``words`` name the condition, so that a path through the tree can be read."""

    words: str
    holds: Callable[[Situation], bool]
    backend: str
    rules: tuple[str, ...] = RULES


ANY = (Branch("a Whisper model", lambda s: "Whisper" in s.model.architecture, "flashinfer"),)

MHA = (
    Branch("Hopper (CUDA >= 12.3) without a draft tree", lambda s: s.hopper and s.chain, "fa3"),
    Branch(
        "SM100 (CUDA >= 12.8) without a draft tree, K and V widths differ",
        lambda s: s.sm100 and s.chain and s.final_drafts and s.asymmetric,
        "fa4",
        rules=("0.5.22",),
    ),
    Branch(
        "SM100 (CUDA >= 12.8) without a draft tree",
        lambda s: s.sm100 and s.chain and s.final_drafts,
        "trtllm_mha",
    ),
    Branch("ROCm", lambda s: s.gpu.kind == "rocm", "aiter"),
    Branch("Apple MPS", lambda s: s.gpu.kind == "mps", "torch_native"),
    Branch("FlashInfer importable and no attention sinks", lambda s: s.flashinfer and not s.model.sinks, "flashinfer"),
    Branch("anything else", lambda s: True, "triton"),
)

MLA = (
    Branch("Hopper (CUDA >= 12.3)", lambda s: s.hopper, "fa3"),
    Branch("SM100 (CUDA >= 12.8)", lambda s: s.sm100, "flashinfer"),
    Branch("ROCm with 16 or 128 heads a rank", lambda s: s.gpu.kind == "rocm" and s.rank_heads in AITER_MLA_HEADS, "aiter"),
    Branch("Apple MPS", lambda s: s.gpu.kind == "mps", "torch_native"),
    Branch("anything else", lambda s: True, "triton"),
)


def tree_pick(situation: Situation) -> tuple[str, str]:
    """The default backend and the path to it in words."""
    attention = situation.model.attention
    branches = [branch for branch in (*ANY, *(MLA if attention is Attention.MLA else MHA)) if situation.rules in branch.rules]
    taken = next(index for index, branch in enumerate(branches) if branch.holds(situation))
    passed = [f"not {branch.words}" for branch in branches[len(ANY) : taken]]
    return branches[taken].backend, "; ".join([f"{attention.value.upper()} model", *passed, branches[taken].words])

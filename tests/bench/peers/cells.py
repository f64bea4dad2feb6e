"""What is measured: 51 cells of Qwen3-8B that fit a server's KV pool, in two groups by how much KV they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Cell, Phase
from backends.spec import StageSpec, TimingSpec
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.settings import Settings, compose

ARMS = ("fa3", "flashinfer", "triton")
DEFAULT = "fa3"  # what SGLang would take on an H200
REQUEST = ("model=qwen3_8b", "traffic=chat", f"measure.backends=[{','.join(ARMS)}]")
BATCHES, CONTEXTS = (1, 2, 4, 8, 16, 24, 32, 48, 64), (1024, 4096, 8192, 12288)
CHUNKS, PREFIXES = (2048, 4096, 8192), (0, 1024, 2048, 4096, 8192)
SMALL, LARGE = "small", "large"
SMALL_TOKENS, SMALL_CHUNK = 65536, 2048
# Chosen before anything was measured: the corners and the middle of both grids.
FLIPPED = (
    *("decode-1x1024", "decode-64x1024", "decode-4x4096", "decode-16x4096", "decode-1x12288", "prefill-2048+2048"),
    *("decode-64x4096", "decode-32x8192", "decode-16x12288", "decode-64x12288", "prefill-4096+0", "prefill-8192+4096"),
)


@dataclass(frozen=True)
class Ground:
    """The arms, the server they run in and the cells by name."""

    arms: tuple[Arm, ...]
    cells: Mapping[str, Cell]
    stage: StageSpec
    timing: TimingSpec


def settings_of(overrides: Sequence[str]) -> Settings:
    return compose([*REQUEST, *overrides])


def ground_of(settings: Settings, packages: Mapping[str, str]) -> Ground:
    """A decode cell of the traffic lends what is not named here."""
    plan = plan_of(settings.scenario, settings.entries, packages)
    arms = tuple(arm for name in ARMS for arm in plan.arms if arm.backend == name)
    like = next(each.cell for each in plan.cells if each.cell.phase is Phase.DECODE)
    return Ground(arms, {cell.name: cell for cell in grid(like)}, stage_of(plan), settings.scenario.measure.timing)


def grid(like: Cell) -> Iterable[Cell]:
    for batch in BATCHES:
        for context in CONTEXTS:
            yield decode(like, batch, context)
    for chunk in CHUNKS:
        for prefix in PREFIXES:
            yield prefill(like, chunk, prefix)


def decode(like: Cell, batch: int, context: int) -> Cell:
    """Requests from half to one and a half times as long as ``context``, which they are on average; an eighth of each was generated."""
    step = context / max(1, batch - 1)
    lengths = tuple(round(context / 2 + step * number) for number in range(batch)) if batch > 1 else (context,)
    prompts = tuple(length * 7 // 8 for length in lengths)
    name = f"decode-{batch}x{context}"
    return replace(
        like, name=name, phase=Phase.DECODE, context_lens=lengths, new_lens=(1,) * batch, prompt_lens=prompts, padded_batch=batch
    )


def prefill(like: Cell, chunk: int, prefix: int) -> Cell:
    """One request's next ``chunk`` tokens after ``prefix`` of it."""
    name, length = f"prefill-{chunk}+{prefix}", (chunk + prefix,)
    return replace(like, name=name, phase=Phase.PREFILL, context_lens=length, new_lens=(chunk,), prompt_lens=length, padded_batch=1)


def group_of(cell: Cell) -> str:
    """Cells of few tokens need many pools to be cold, those of many need large ones: no process can hold both."""
    if cell.phase is Phase.PREFILL:
        return SMALL if cell.new_tokens <= SMALL_CHUNK else LARGE
    return SMALL if sum(cell.context_lens) <= SMALL_TOKENS else LARGE


def block_of(name: str) -> int:
    """1: measured first and again and again; 2: the others."""
    return 1 if name in FLIPPED else 2

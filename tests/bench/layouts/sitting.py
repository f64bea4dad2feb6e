"""What a sitting measures: one geometry, every backend at every page size, on cells that differ in where their KV lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Cell, PageLayout, Phase
from backends.spec import StageSpec, TimingSpec
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.settings import Settings, compose

BACKENDS = ("fa3", "flashinfer", "triton")
PAGE_SIZES = (1, 16, 64, 128)
# Query heads / KV heads of a rank.
GEOMETRIES = {"32/8": ("model=qwen3_8b",), "16/1": ("model=qwen3_235b_a22b", "engine.tensor_parallel=4")}
CHATTING = "32/8"  # the geometry that the chat cells are measured with
TRAFFIC = (
    *("traffic=chat", f"measure.backends=[{','.join(BACKENDS)}]", "measure.import_ahead=true", "measure.timing.blocks=2"),
    "measure.timing.warmup_cap_s=4",
    "measure.memory_fraction=0.8",  # four pools and twelve workspaces in a process
)
REQUESTS, CONTEXT, MADE = 64, 4096, 512  # of each context so many tokens were generated
SHARES = (0.0, 0.5, 0.9)  # of the prompt tokens in a batch, that all its requests have in common


@dataclass(frozen=True)
class Sitting:
    """Arms and cells of one geometry, on the server that they would run in. ``listing``: a function of a module that travelled along, which
    lists what their calls launch."""

    geometry: str
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    stage: StageSpec
    timing: TimingSpec
    listing: str | None = None


def settings_of(geometry: str, overrides: Sequence[str]) -> Settings:
    return compose([*TRAFFIC, *GEOMETRIES[geometry], *overrides])


def sitting_of(geometry: str, settings: Settings, packages: Mapping[str, str]) -> Sitting:
    """With the backends that ``packages`` have a driver for; the first decode cell of the traffic with `REQUESTS` lends the rest of
    a cell's fields."""
    plan = plan_of(settings.scenario, settings.entries, packages)
    originals = {arm.backend: arm for arm in plan.arms if arm.backend in BACKENDS}
    arms = tuple(replace(originals[name], page_size=size) for size in PAGE_SIZES for name in BACKENDS if name in originals)
    talk = next(each.cell for each in plan.cells if each.cell.phase is Phase.DECODE and each.cell.batch == REQUESTS)
    cells = (*placed(talk), *(shared(talk) if geometry == CHATTING else ()))
    return Sitting(geometry, arms, cells, stage_of(plan), settings.scenario.measure.timing)


def even(layout: PageLayout) -> str:
    return f"even-{layout.value}"


def chat_with(share: float) -> str:
    return f"chat-{100 * share:.0f}"


def placed(like: Cell) -> Iterable[Cell]:
    """Requests of equal length under each page layout."""
    equal = replace(like, context_lens=(CONTEXT,) * REQUESTS, prompt_lens=(CONTEXT - MADE,) * REQUESTS, shared_prefix=0)
    return (replace(equal, name=even(layout), page_layout=layout) for layout in PageLayout)


def shared(chat: Cell) -> Iterable[Cell]:
    """Chat's own lengths, as the engine lays them out, with more and more of the prompts in common."""
    for share in SHARES:
        yield replace(chat, name=chat_with(share), page_layout=PageLayout.SERVED, shared_prefix=prefix_for(share, chat.prompt_lens))


def prefix_for(share: float, prompts: Sequence[int]) -> int:
    """The shortest prefix that makes at least ``share`` of all prompt tokens common ones; shorter prompts lie in it whole."""
    wanted = share * sum(prompts)
    return next(tokens for tokens in range(max(prompts) + 1) if sum(min(tokens, prompt) for prompt in prompts) >= wanted)

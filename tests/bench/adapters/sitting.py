"""What a sitting measures: each backend twice on the same cells, through the engine and by its adapter, and adapters on other pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backends.arm import Arm, Provider
from backends.capability import BackendEntry
from backends.cell import Cell, Phase
from backends.kv.layout import pages_needed
from backends.spec import StageSpec
from tests.bench.layouts.sitting import Sitting
from tuner.limiting.drivers import driver_by
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.settings import Settings, compose

LISTING = "launched:run"
MHA = ("model=qwen3_8b", "traffic=chat")
MLA = ("model=deepseek_v3", "traffic=chat", "engine.tensor_parallel=8")
MANNER = ("measure.import_ahead=true", "measure.timing.blocks=2", "measure.timing.warmup_cap_s=4", "measure.memory_fraction=0.8")
WANTED_BATCHES = (16, 64)
BOTH = (Provider.ENGINE, Provider.KERNEL)
ADAPTERS = (Provider.KERNEL,)


@dataclass(frozen=True)
class Group:
    """``arms``: (backend, page size); each by every one of ``providers``. ``pool``: of the server's size, as small as the cells allow, or
    with K and V side by side."""

    request: tuple[str, ...]
    arms: tuple[tuple[str, int], ...]
    providers: tuple[Provider, ...] = BOTH
    phases: tuple[Phase, ...] = tuple(Phase)
    knobs: tuple[tuple[str, str], ...] = ()
    pool: str = "server"

    @property
    def backends(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(backend for backend, _ in self.arms))


POOLS = (("fa3", 16), ("fa4", 128), ("flashinfer", 1))
DECODE = (Phase.DECODE,)
GROUPS = {
    "32/8 heads": Group(MHA, (("fa3", 1), ("flashinfer", 1))),
    "32/8 heads, whole pages": Group(MHA, (("fa3", 64), ("trtllm_mha", 64), ("fa4", 128)), phases=DECODE),
    "latent, 16 heads": Group(MLA, (("fa3", 1), ("flashinfer", 1), ("flashmla", 64)), phases=DECODE),
    "server's pool": Group(MHA, POOLS, ADAPTERS, DECODE),
    "narrow tables": Group(MHA, (("fa3", 16), ("fa4", 128)), ADAPTERS, DECODE, knobs=(("page_table", "batch"),)),
    "small pool": Group(MHA, POOLS, ADAPTERS, DECODE, pool="small"),
    "K and V side by side": Group(MHA, POOLS, ADAPTERS, DECODE, pool="combined"),
}
AGREEING = tuple(name for name, group in GROUPS.items() if group.providers == BOTH)
BASE = "server's pool"
CHANGED = tuple(name for name in GROUPS if name not in (*AGREEING, BASE))


def settings_of(name: str, overrides: Sequence[str]) -> Settings:
    group = GROUPS[name]
    return compose([*group.request, *MANNER, f"measure.backends=[{','.join(group.backends)}]", *overrides])


def sitting_of(name: str, settings: Settings, packages: Mapping[str, str]) -> Sitting:
    """Of what can be driven where ``packages`` can be imported."""
    group = GROUPS[name]
    plan = plan_of(settings.scenario, settings.entries, packages)
    cells = tuple(_cells((each.cell for each in plan.cells), group.phases))
    entries = {entry.name: entry for entry in settings.entries}
    arms = tuple(arm for provider in group.providers for arm in _arms(group, provider, entries, settings, packages))
    return Sitting(name, arms, cells, _stage(group, stage_of(plan), arms, cells), settings.scenario.measure.timing, LISTING)


def _arms(
    group: Group, provider: Provider, entries: Mapping[str, BackendEntry], settings: Settings, packages: Mapping[str, str]
) -> Iterator[Arm]:
    dtype = settings.scenario.model.dtype
    for backend, page_size in group.arms:
        driver = driver_by(entries[backend], settings.scenario, provider)
        known = {knob.name for knob in driver.knobs}
        knobs = tuple(knob for knob in group.knobs if knob[0] in known)
        if set(driver.packages) <= set(packages):
            yield Arm(backend, driver.provider, driver.driver, page_size, dtype, driver.packages, knobs)


def _cells(planned: Iterable[Cell], phases: Sequence[Phase]) -> Iterator[Cell]:
    """Decode at `WANTED_BATCHES` and a fresh prefill, as the plan has them."""
    for cell in planned:
        fresh = cell.phase is Phase.PREFILL and not any(cell.prefix_lens)
        if cell.phase in phases and (fresh or (cell.phase is Phase.DECODE and cell.batch in WANTED_BATCHES)):
            yield cell


def _stage(group: Group, stage: StageSpec, arms: Sequence[Arm], cells: Sequence[Cell]) -> StageSpec:
    if group.pool == "small":
        return replace(stage, pool_tokens=max(pages_needed(cell, arm.page_size) * arm.page_size for arm in arms for cell in cells))
    return replace(stage, combined=group.pool == "combined")

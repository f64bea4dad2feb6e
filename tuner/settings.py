"""From the configuration tree to frozen records. The only module that sees OmegaConf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from backends.capability import BackendEntry
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.gpu import Gpu
from backends.model import Model
from backends.simulated.world import World
from backends.wire import from_plain
from store.scenario import Decide, Engine, Measure, Scenario, Traffic
from store.search import Search
from tuner import names
from tuner.boards import completed
from tuner.detect import machine_gpu
from tuner.errors import UsageError
from tuner.executors.place import Place
from tuner.explain import no_such_key, usage_errors
from tuner.sanity.refuse import refuse_foreign_backends, refuse_nonsense
from tuner.sanity.tree import Tree
from tuner.schema.gpu import GpuKind
from tuner.schema.root import register
from tuner.schema.search import SearchKind
from tuner.settings_model import read_model
from tuner.settings_traffic import BESIDE, read_traffic
from tuner.shipped import default_backends, engine_alone
from tuner.simulation import world_of
from tuner.spans import seconds_of

if TYPE_CHECKING:
    from tuner.traffic.trace import Trace

AUTO = GpuKind.auto.name
BUDGET = "budget_s"
SIMULATED = "simulated"


@dataclass(frozen=True)
class Settings:
    """One request, resolved. With ``gpu_is_auto`` the scenario's GPU is this machine's and gives way to the worker's."""

    scenario: Scenario
    gpu_is_auto: bool
    entries: tuple[BackendEntry, ...]
    config_dir: str | None  # where --config-dir pointed: drivers of third parties lie there
    store_url: str
    pin_path: Path
    fresh: bool
    without_default: bool
    explain: bool  # print every comparison behind the decision too
    budget_s: float | None  # no part of the scenario: a run goes on under another budget
    wait_for_gpu_s: float | None  # None = others on the device are not waited for
    ask_limit_s: float  # an engine that is asked and does not answer is left alone then
    model_notes: tuple[str, ...] = ()  # what was guessed of a model that was read from a checkpoint
    checkpoint: str | None = None  # where that one's config.json lies
    world: World | None = None  # what stands in for a simulated GPU
    json: bool = False  # print how it ended as data
    executor: Place = Place()  # where it runs
    trace: Trace | None = None  # what was read from the file that traffic.path names


@dataclass(frozen=True)
class Backends:
    """Of a command line, for what asks no machine and no model: the backends, and the engine with its version."""

    entries: tuple[BackendEntry, ...]
    engine: str
    version: str


def compose(overrides: Sequence[str], config_dir: str | None = None) -> Settings:
    """The settings of a command line; ``config_dir`` adds options to the groups; ours keep their names."""
    cfg, backends = _composed(overrides, config_dir)
    return settings_from(cfg, config_dir, backends)


def compose_backends(overrides: Sequence[str], config_dir: str | None = None) -> Backends:
    """Raises `UsageError` as `settings_from` does, but looks at no more of the values than the engine's name."""
    cfg, backends = _composed(overrides, config_dir)
    read_model(cfg)
    read_traffic(cfg)
    tree = _resolved(cfg, backends)
    refuse_foreign_backends(tree)
    return Backends(_entries(tree["backends"]), tree["engine"]["name"], tree["engine"]["version"])


def _composed(overrides: Sequence[str], config_dir: str | None) -> tuple[DictConfig, Tree | None]:
    """The configuration, and its backends where they are those of the package: merging their files takes Hydra most of its time."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module

    register()
    searched = [f"hydra.searchpath=[file://{_folder(config_dir)}]"] if config_dir else []
    engine = engine_alone(overrides) if config_dir is None else None
    with usage_errors(), initialize_config_module("conf", version_base="1.3"):
        cfg = hydra_compose("config", [*searched, *overrides, *(["backend=[]"] if engine else [])])
    return cfg, default_backends(engine) if engine else None


def settings_from(cfg: DictConfig, config_dir: str | None = None, backends: Tree | None = None) -> Settings:
    """``backends``, if any, stand for those of ``cfg``. Raises `UsageError` for an unknown key, a missing or a senseless value."""
    model_notes, trace = read_model(cfg), read_traffic(cfg)
    tree = _resolved(cfg, backends)
    refuse_nonsense(tree)
    scenario, entries = _scenario(tree), _entries(tree["backends"])
    return Settings(
        scenario=scenario,
        gpu_is_auto=tree["gpu"]["kind"] == AUTO,
        entries=entries,
        config_dir=config_dir,
        store_url=tree["store"]["url"],
        pin_path=Path(tree["pin"]["path"]),
        fresh=tree["fresh"],
        without_default=tree["without_default"],
        explain=tree["explain"],
        json=tree["json"],
        executor=from_plain(Place, tree["executor"]),
        budget_s=tree["measure"][BUDGET],
        wait_for_gpu_s=None if tree["wait_for_gpu"] is None else seconds_of(tree["wait_for_gpu"], "wait_for_gpu"),
        ask_limit_s=seconds_of(tree["ask_limit"], "ask_limit"),
        model_notes=model_notes,
        checkpoint=tree["model"]["path"],
        world=world_of(scenario.gpu, tree["gpu"][SIMULATED], entries),
        trace=trace,
    )


@cache
def gpu_sheets() -> tuple[Gpu, ...]:
    """The GPUs whose figures the package knows."""
    known = [_read("gpu", name) for name in names.groups()["gpu"]]
    return tuple(_gpu_record(sheet) for sheet in known if sheet["kind"] != AUTO)


def _folder(config_dir: str) -> Path:
    if not Path(config_dir).is_dir():
        raise UsageError(f"--config-dir {config_dir} is not a folder; give one that holds groups such as model/ or backend/")
    return Path(config_dir).absolute()


def _resolved(cfg: DictConfig, backends: Tree | None) -> dict[str, Any]:
    with usage_errors():
        tree: Any = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True, enum_to_str=True)
    for key in names.unknown_keys(tree):  # Hydra lets +engine.x=1 through
        raise UsageError(no_such_key(key))
    return dict(tree) if backends is None else {**tree, "backends": backends}


def _scenario(tree: dict[str, Any]) -> Scenario:
    engine = {"speculation" if key == "speculative" else key: value for key, value in tree["engine"].items()}
    model = from_plain(Model, {key: value for key, value in tree["model"].items() if key != "path"})
    if model.required_backend is not None:
        engine["attention_backend"] = model.required_backend  # a choice that the model makes
    return Scenario(
        model=model,
        gpu=completed(machine_gpu(), gpu_sheets()) if tree["gpu"]["kind"] == AUTO else _gpu_record(tree["gpu"]),
        traffic=from_plain(Traffic, {key: value for key, value in tree["traffic"].items() if key not in BESIDE}),
        engine=from_plain(Engine, engine),
        measure=replace(_measure(tree["measure"]), search=_search(tree["search"])),
        decide=from_plain(Decide, tree["decide"]),
    )


def _measure(tree: dict[str, Any]) -> Measure:
    """Of a variant whatever is not its backend is a knob."""
    knobs = [sorted((key, value) for key, value in each.items() if key != "backend") for each in tree["variants"]]
    variants = [{"backend": each["backend"], "knobs": found} for each, found in zip(tree["variants"], knobs)]
    kept = {key: value for key, value in tree.items() if key != BUDGET}
    return from_plain(Measure, {**kept, "variants": variants})


def _search(tree: dict[str, Any]) -> Search | None:
    return None if tree["kind"] == SearchKind.none.name else from_plain(Search, tree)


def _gpu_record(tree: dict[str, Any]) -> Gpu:
    unknown = dict.fromkeys(field.name for field in fields(Gpu) if field.default is MISSING)
    return from_plain(Gpu, {**unknown, **{key: value for key, value in tree.items() if key != SIMULATED}})


def _read(group: str, name: str) -> dict[str, Any]:
    tree: Any = OmegaConf.to_container(OmegaConf.load(str(files("conf") / group / f"{name}.yaml")))
    return dict(tree)


def _entries(tree: dict[str, Any]) -> tuple[BackendEntry, ...]:
    try:
        return tuple(entry_from({"name": name, **entry}) for name, entry in tree.items())
    except EntryError as error:
        raise UsageError(f"{error} (conf/backend)") from error


def pin_override(path: str) -> str:
    """`--pin F` as the override it stands for, quoted so that Hydra's grammar leaves the path alone."""
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"pin.path='{escaped}'"

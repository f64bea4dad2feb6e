"""From a command line to its settings: what Hydra composes, resolved and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from backends.capability import BackendEntry
from backends.gpu import Gpu
from backends.silence import SilenceLimits
from backends.simulated.world import World
from backends.wire import from_plain
from store.database.interrupts import held_back
from store.scenario import Scenario
from tuner.composing import names
from tuner.composing.boards import completed
from tuner.composing.detect import machine_gpu
from tuner.composing.explain import no_such_key, usage_errors
from tuner.composing.model import read_model
from tuner.composing.model_dtype import DEVICE
from tuner.composing.scenario import BUDGET, SIMULATED, entries_of, gpu_of, scenario_of
from tuner.composing.shipped import default_backends, engine_alone
from tuner.composing.simulation import recording_of, worlds_of
from tuner.composing.traffic import read_traffic
from tuner.errors import UsageError
from tuner.executors.place import Place
from tuner.sanity.refuse import refuse_foreign_backends, refuse_nonsense
from tuner.sanity.tree import Tree
from tuner.schema.gpu import GpuKind
from tuner.schema.root import register
from tuner.spans import limit_of, seconds_of

if TYPE_CHECKING:
    from store.runs.run import Run
    from tuner.traffic.trace import Trace

AUTO = GpuKind.auto.name


@dataclass(frozen=True)
class Settings:
    """One request, resolved. With ``gpu_is_auto`` the scenario's GPU is this machine's and gives way to the worker's."""

    scenario: Scenario
    gpu_is_auto: bool
    dtype_is_device_s: bool  # the model's, which follows the GPU
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
    patience: SilenceLimits  # with a process that says nothing; no part of the scenario, since it changes no number
    model_notes: tuple[str, ...] = ()  # what was guessed of a model that was read from a checkpoint
    checkpoint: str | None = None  # where that one's config.json lies
    world: World | None = None  # what stands in for a simulated GPU
    other_worlds: tuple[World, ...] = ()  # what stands in for further ones of the same type
    recording: Run | None = None  # the run whose times a simulated GPU replays
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
    return Backends(entries_of(tree["backends"]), tree["engine"]["name"], tree["engine"]["version"])


def compose_trace(overrides: Sequence[str]) -> Trace | None:
    """What a command line says of its traffic alone; None where it names no file. Raises `UsageError`."""
    cfg, _ = _composed(overrides, None)
    return read_traffic(cfg)


def _composed(overrides: Sequence[str], config_dir: str | None) -> tuple[DictConfig, Tree | None]:
    """The configuration, and its backends where they are those of the package: merging their files takes Hydra most of its time."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module

    register()
    searched = [f"hydra.searchpath=[file://{_folder(config_dir)}]"] if config_dir else []
    engine = engine_alone(overrides) if config_dir is None else None
    with held_back(), usage_errors(), initialize_config_module("conf", version_base="1.3"):
        cfg = hydra_compose("config", [*searched, *overrides, *(["backend=[]"] if engine else [])])
    return cfg, default_backends(engine) if engine else None


def settings_from(cfg: DictConfig, config_dir: str | None = None, backends: Tree | None = None) -> Settings:
    """``backends``, if any, stand for those of ``cfg``. Raises `UsageError` for an unknown key, a missing or a senseless value."""
    model_notes, trace = read_model(cfg), read_traffic(cfg)
    tree = _resolved(cfg, backends)
    refuse_nonsense(tree)
    gpu = completed(here := machine_gpu(), gpu_sheets(here.name)) if tree["gpu"]["kind"] == AUTO else gpu_of(tree["gpu"])
    scenario, entries = scenario_of(tree, gpu), entries_of(tree["backends"])
    recording = recording_of(tree["gpu"][SIMULATED])
    worlds = worlds_of(scenario.gpu, tree["gpu"][SIMULATED], entries, recording)
    return Settings(
        scenario=scenario,
        gpu_is_auto=tree["gpu"]["kind"] == AUTO,
        dtype_is_device_s=tree["model"]["dtype"] == DEVICE,
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
        patience=SilenceLimits(**{f"{work}_s": limit_of(text, f"patience.{work}") for work, text in tree["patience"].items()}),
        model_notes=model_notes,
        checkpoint=tree["model"]["path"],
        world=next(iter(worlds), None),
        other_worlds=worlds[1:],
        recording=recording,
        trace=trace,
    )


@cache
def gpu_sheets(of: str = "") -> tuple[Gpu, ...]:
    """The GPUs whose figures the package knows. ``of``: that of this name, if there is one, and maybe others; to read all takes a tenth
    of a second."""
    known = [_read("gpu", name) for name in names.groups()["gpu"] if of in _file("gpu", name).read_text(encoding="utf-8")]
    return tuple(gpu_of(sheet) for sheet in known if sheet["kind"] != AUTO)


def _folder(config_dir: str) -> Path:
    if not Path(config_dir).is_dir():
        raise UsageError(f"--config-dir {config_dir} is not a folder; give one that holds groups such as model/ or backend/")
    return Path(config_dir).absolute()


def _resolved(cfg: DictConfig, backends: Tree | None) -> dict[str, Any]:
    with held_back(), usage_errors():
        tree: Any = OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True, enum_to_str=True)
    for key in names.unknown_keys(tree):  # Hydra lets +engine.x=1 through
        raise UsageError(no_such_key(key))
    return dict(tree) if backends is None else {**tree, "backends": backends}


def _read(group: str, name: str) -> dict[str, Any]:
    tree: Any = OmegaConf.to_container(OmegaConf.load(str(_file(group, name))))
    return dict(tree)


def _file(group: str, name: str) -> Traversable:
    return files("conf") / group / f"{name}.yaml"


def pin_override(path: str) -> str:
    """`--pin F` as the override it stands for, quoted so that Hydra's grammar leaves the path alone."""
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"pin.path='{escaped}'"

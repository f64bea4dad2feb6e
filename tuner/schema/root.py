"""The whole tree, as Hydra composes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from backends.simulated.world import is_simulated
from tuner.schema import MISSING
from tuner.schema.decide import DecideNode
from tuner.schema.engine import EngineNode
from tuner.schema.executor import ExecutorNode
from tuner.schema.gpu import GpuNode
from tuner.schema.measure import MeasureNode
from tuner.schema.model import ModelNode
from tuner.schema.search import SearchNode
from tuner.schema.traffic import TrafficNode


@dataclass
class StoreNode:
    url: str = MISSING


@dataclass
class PinNode:
    path: str = MISSING


@dataclass
class PatienceNode:
    starting: str = MISSING
    answering: str = MISSING
    importing: str = MISSING
    building: str = MISSING
    compiling: str = MISSING
    capturing: str = MISSING
    checking: str = MISSING
    timing: str = MISSING
    installing: str = MISSING


@dataclass
class Root:
    model: ModelNode = field(default_factory=ModelNode)
    gpu: GpuNode = field(default_factory=GpuNode)
    traffic: TrafficNode = field(default_factory=TrafficNode)
    engine: EngineNode = field(default_factory=EngineNode)
    measure: MeasureNode = field(default_factory=MeasureNode)
    search: SearchNode = field(default_factory=SearchNode)
    decide: DecideNode = field(default_factory=DecideNode)
    store: StoreNode = field(default_factory=StoreNode)
    backends: dict[str, Any] = field(default_factory=dict)
    pin: PinNode = field(default_factory=PinNode)
    fresh: bool = False
    without_default: bool = False
    explain: bool = False
    json: bool = False
    scenarios: str | None = None
    executor: ExecutorNode = field(default_factory=ExecutorNode)
    wait_for_gpu: str | None = None
    ask_limit: str = MISSING
    patience: PatienceNode = field(default_factory=PatienceNode)


def folder_of_pins(gpu: str, recording: str | None) -> str:
    """Pins of a GPU that is none lie apart, where nothing that serves looks for any, and those of recorded times apart from these."""
    return "pins" if not is_simulated(gpu) else "pins-simulated" if recording is None else "pins-replay"


@cache
def register() -> None:
    """Makes `schema` known to Hydra, the first entry of every root config's defaults, and what its values call."""
    from hydra.core.config_store import ConfigStore
    from omegaconf import OmegaConf

    store = ConfigStore.instance()
    store.store(name="schema", node=Root)
    store.__dict__["__deepcopy__"] = lambda memo: store  # Hydra copies it at each look into a group, which is most of `tune --help`
    OmegaConf.register_new_resolver("pins_of", folder_of_pins)

"""From a resolved tree of settings to the records that it stands for: the scenario, its GPU, the backends."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

from backends.capability import BackendEntry
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.gpu import Gpu
from backends.model import Model
from backends.wire import from_plain
from store.scenario import Decide, Engine, Measure, Scenario
from store.search import Search
from store.traffic import Traffic
from tuner.composing.model_dtype import DEVICE, with_dtype
from tuner.composing.traffic import BESIDE
from tuner.errors import UsageError
from tuner.sanity.tree import Tree
from tuner.schema.search import SearchKind

BUDGET = "budget_s"
SIMULATED = "simulated"


def scenario_of(tree: Tree, gpu: Gpu) -> Scenario:
    """``gpu``: the record of the tree's, or what the machine has in its place."""
    engine = {"speculation" if key == "speculative" else key: value for key, value in tree["engine"].items()}
    model = from_plain(Model, {key: value for key, value in tree["model"].items() if key != "path"})
    if model.required_backend is not None:
        engine["attention_backend"] = model.required_backend  # a choice that the model makes
    scenario = Scenario(
        model=model,
        gpu=gpu,
        traffic=from_plain(Traffic, {key: value for key, value in tree["traffic"].items() if key not in BESIDE}),
        engine=from_plain(Engine, engine),
        measure=replace(_measure(tree["measure"]), search=_search(tree["search"])),
        decide=from_plain(Decide, tree["decide"]),
    )
    return with_dtype(scenario) if model.dtype == DEVICE else scenario


def _measure(tree: Tree) -> Measure:
    """Of a variant whatever is not its backend is a knob."""
    knobs = [sorted((key, value) for key, value in each.items() if key != "backend") for each in tree["variants"]]
    variants = [{"backend": each["backend"], "knobs": found} for each, found in zip(tree["variants"], knobs)]
    kept = {key: value for key, value in tree.items() if key != BUDGET}
    return from_plain(Measure, {**kept, "variants": variants})


def _search(tree: Tree) -> Search | None:
    return None if tree["kind"] == SearchKind.none.name else from_plain(Search, tree)


def gpu_of(tree: Tree) -> Gpu:
    unknown = dict.fromkeys(field.name for field in fields(Gpu) if field.default is MISSING)
    return from_plain(Gpu, {**unknown, **{key: value for key, value in tree.items() if key != SIMULATED}})


def entries_of(tree: Tree) -> tuple[BackendEntry, ...]:
    """Raises `UsageError`."""
    try:
        return tuple(entry_from({"name": name, **entry}) for name, entry in tree.items())
    except EntryError as error:
        raise UsageError(f"{error} (conf/backend)") from error

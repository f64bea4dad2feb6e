"""The rooms import one way, and what must stay light stays light."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("tuner", "reports", "store", "backends")  # each may import itself and those after it
NEVER_IN_THE_WORKER = ("hydra", "omegaconf", "optuna", "sqlalchemy", "alembic", "pynvml", "numpy", "scipy", "rich", "typer")
# what a serving image may lack, too: the worker starts without it
NOT_AT_START = (*NEVER_IN_THE_WORKER, "torch", "triton", "flashinfer", "sglang", "sgl_kernel", "vllm")
KERNEL_LIBRARIES = ("torch", "triton", "flashinfer", "sglang", "sgl_kernel", "vllm")


def sources(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@cache
def imports(source: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Anywhere in it, inside functions too."""
    return tuple(node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom)))


def imported(source: Path) -> Iterator[str]:
    """Modules that a file imports."""
    for node in imports(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{source}: write the whole name of what is imported"
            yield node.module or ""


def top_names(source: Path) -> set[str]:
    return {module.partition(".")[0] for module in imported(source)}


def modules(room: str) -> list[str]:
    """Importable modules of a room; a migration and a __main__ do something when they are imported."""
    paths = [path.relative_to(ROOT).with_suffix("") for path in sources(room)]
    return [".".join(path.parts).removesuffix(".__init__") for path in paths if path.name != "__main__" and "migrations" not in path.parts]


def load(names: list[str], blocked: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Imports ``names`` in a fresh interpreter in which importing anything ``blocked`` fails."""
    block = f"import sys, importlib\nfor name in {blocked!r}: sys.modules[name] = None\n"
    code = f"{block}for name in {names!r}: importlib.import_module(name)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


def test_every_room_has_sources_to_look_at():
    assert all(len(sources(room)) > 3 for room in ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_the_rooms_below(room):
    above = set(ROOMS[: ROOMS.index(room)])
    upward = {str(source.relative_to(ROOT)): sorted(top_names(source) & above) for source in sources(room)}
    assert {source: names for source, names in upward.items() if names} == {}


def test_the_packages_of_the_store_import_one_way():
    """As do the modules that lie beside them. A circle raises `graphlib.CycleError`."""
    needed: dict[str, set[str]] = defaultdict(set)
    for source in sources("store"):
        package = source.relative_to(ROOT / "store").with_suffix("").parts[0]
        needed[package] |= {module.split(".")[1] for module in imported(source) if module.startswith("store.")} - {package}
    order = list(TopologicalSorter(needed).static_order())
    assert order.index("database") < order.index("runs") < order.index("exchange")


@pytest.mark.parametrize("room", ["tuner", "store"])
def test_a_room_says_which_packages_it_has(room):
    packages = {path.parent.name for path in (ROOT / room).glob("*/__init__.py")}
    said = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or ""
    assert packages - set(re.findall(r"`(\w+)`", said)) == set()
    assert all(ast.get_docstring(ast.parse((ROOT / room / package / "__init__.py").read_text())) for package in packages)


def test_the_worker_never_imports_what_belongs_to_the_controller():
    found = {str(source.relative_to(ROOT)): sorted(top_names(source) & set(NEVER_IN_THE_WORKER)) for source in sources("backends")}
    assert {source: names for source, names in found.items() if names} == {}


@pytest.mark.parametrize("room", ["tuner", "reports", "store"])
def test_the_controller_never_imports_a_kernel_library(room):
    found = {str(source.relative_to(ROOT)): sorted(top_names(source) & set(KERNEL_LIBRARIES)) for source in sources(room)}
    assert {source: names for source, names in found.items() if names} == {}


def test_every_module_of_the_worker_loads_without_torch_or_the_controllers_libraries():
    done = load(modules("backends"), NOT_AT_START)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ["tuner", "reports", "store"])
def test_every_module_of_the_controller_loads_without_a_kernel_library(room):
    done = load(modules(room), KERNEL_LIBRARIES)
    assert done.returncode == 0, done.stderr


def test_nothing_outside_the_engines_imports_the_folder_of_one():
    """What an engine accepts and picks is asked through `tuner.engines.lookup`."""
    engines = sorted(path.name for path in (ROOT / "tuner" / "engines").iterdir() if (path / "__init__.py").is_file())
    folders = {f"tuner.engines.{name}" for name in engines}
    outside = [source for room in ROOMS for source in sources(room) if ROOT / "tuner" / "engines" not in source.parents]
    found = {str(source.relative_to(ROOT)): sorted(engine_folders(source) & folders) for source in outside}
    assert folders and {source: names for source, names in found.items() if names} == {}


def engine_folders(source: Path) -> set[str]:
    """The first three parts of each module that is imported; `from tuner.engines import x` counts as tuner.engines.x."""
    named = [f"{node.module}.{alias.name}" for node in imports(source) if isinstance(node, ast.ImportFrom) for alias in node.names]
    return {".".join(module.split(".")[:3]) for module in (*named, *imported(source))}


def test_only_settings_and_what_hands_to_hydra_see_omegaconf():
    seen = {str(source.relative_to(ROOT / "tuner")) for source in sources("tuner") if "omegaconf" in top_names(source)}
    composing = {f"composing/{name}.py" for name in ("model", "traffic", "explain")}
    assert seen == {"settings.py", *composing, "command_line/hydra_app.py", "schema/root.py"}

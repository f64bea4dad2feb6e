"""`gpu=simulated` and `gpu=replay`: from the settings to what stands in for the GPU, on the worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.environment import Board, Environment
from backends.gpu import Gpu
from backends.simulated.world import MARK, Fault, Noise, Pace, Package, World, is_simulated, uuid_of
from backends.wire import from_plain
from tuner.doctor.known import KernelDistribution, read_known
from tuner.errors import UsageError
from tuner.sanity.tree import Tree

if TYPE_CHECKING:
    from store.runs.run import Run

DRIVER = "simulated"


def recording_of(tree: Tree | None) -> Run | None:
    """The run that the node gpu.simulated replays."""
    if tree is None or tree["recording"] is None:
        return None
    from tuner.past.recorded_times import recorded_run

    return recorded_run(tree["recording"])


def worlds_of(gpu: Gpu, tree: Tree | None, entries: Iterable[BackendEntry], recording: Run | None) -> tuple[World, ...]:
    """One for each board that is visible. ``tree`` is the node gpu.simulated; None = ``gpu`` is a real one, for which nothing stands in.
    ``recording``: what times are drawn from; None = they are modelled. Raises `UsageError` where name and node disagree."""
    if (tree is not None) != is_simulated(gpu.name):
        raise UsageError(f"gpu.name={gpu.name} and gpu.simulated contradict: names of simulated GPUs begin with {MARK!r}, and no others")
    if tree is None:
        return ()
    world = _world(gpu, tree, entries)
    world = world if recording is None else _replaying(world, recording)
    return world, *(_another(world, number, board) for number, board in enumerate(tree["boards"], 1))


def _another(world: World, number: int, tree: Tree) -> World:
    """A board of the same type as that of ``world``, as far as ``tree`` does not set it apart."""
    common = tuple(Pace(backend, tree["common"]) for backend in dict.fromkeys(pace.backend for pace in world.paces))
    paces = (*world.paces, *common, *from_plain(tuple[Pace, ...], tree["paces"]))
    board = replace(world.board, uuid=uuid_of(world.board.uuid, number, paces))
    return replace(world, board=board, paces=paces, faults=from_plain(tuple[Fault, ...], tree["faults"]))


def _world(gpu: Gpu, tree: Tree, entries: Iterable[BackendEntry]) -> World:
    noise, paces = from_plain(Noise, tree["noise"]), tuple(_paces(tree))
    return World(
        board=_board(gpu, tree, uuid_of(noise, paces, tree["recording"])),
        peak_flops=gpu.peak_flops or 0.0,
        cuda=gpu.cuda,
        seed=tree["seed"],
        noise=noise,
        paces=paces,
        packages=tuple(_packages(tree["versions"])),
        eager=tuple(entry.name for entry in entries if not entry.graph),
        faults=from_plain(tuple[Fault, ...], tree["faults"]),
        telling=tree["telling"],
    )


def _replaying(world: World, run: Run) -> World:
    """With the times of a recorded run, and the packages it was measured with where the settings name none."""
    from tuner.past.recorded_times import processes_of

    chosen = {(package.module, package.distribution): package for package in (*_installed(run.environment), *world.packages)}
    return replace(world, recorded=processes_of(run), packages=tuple(chosen.values()), cuda=run.environment.cuda)


def _installed(environment: Environment) -> Iterator[Package]:
    versions = {each.name: each.version for each in environment.distributions}
    yield from (Package(module, owner, versions[owner]) for module, owner in environment.imports)


def _board(gpu: Gpu, tree: Tree, uuid: str) -> Board:
    return Board(
        kind=gpu.kind,
        name=gpu.name,
        sm=gpu.sm,
        uuid=uuid,
        memory_bytes=gpu.memory_bytes,
        power_limit_w=tree["power_limit_w"],
        mig=None,
        driver=DRIVER,
        sm_count=gpu.sm_count,
        l2_bytes=gpu.l2_bytes,
        smem_per_block_bytes=gpu.smem_per_block_bytes,
        max_sm_clock_mhz=tree["max_sm_clock_mhz"],
        bandwidth_bytes_per_s=gpu.bandwidth_bytes_per_s,
    )


def _paces(tree: Tree) -> Iterator[Pace]:
    for backend, factors in tree["factor"].items():
        yield from (Pace(backend, factor, Phase(phase)) for phase, factor in factors.items())
    yield from from_plain(tuple[Pace, ...], (*tree["releases"], *tree["knobs"]))


def _packages(versions: dict[str, str]) -> Iterator[Package]:
    known = read_known("distributions", KernelDistribution)
    for module, version in versions.items():
        owner = next((each.name for each in known if module in each.imports), module)
        yield Package(module, owner, version)


def with_packages(world: World, requirements: Iterable[str]) -> World:
    """``world`` with other versions installed ("name==version"). Raises `UsageError` for a distribution that it has not."""
    packages = world.packages
    for requirement in requirements:
        written, _, version = requirement.partition("==")
        name = canonicalize_name(written)
        if all(package.distribution != name for package in packages):
            there = ", ".join(dict.fromkeys(package.distribution for package in packages))
            raise UsageError(f"the simulated GPU has no distribution {name!r}; it has {there}")
        packages = tuple(replace(package, version=version) if package.distribution == name else package for package in packages)
    return replace(world, packages=packages)

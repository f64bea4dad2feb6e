"""What differs between two environments, and what that can touch. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.arm import Arm
from backends.environment import Distribution, Environment
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.pin import EVERYWHERE, packages_of

SHORT = 12  # characters of a digest
EVERYTHING = ("every arm",)


def moved(baseline: Run, candidate: Run) -> tuple[Change, ...]:
    """Interpreter, CUDA, distributions by version and content, and variables that change kernels."""
    old, new = baseline.environment, candidate.environment
    whole = (("Python", old.python, new.python), ("CUDA", old.cuda, new.cuda), ("image", old.image, new.image))
    changes = [Change(what, before, after, EVERYTHING) for what, before, after in whole if before != after]
    return (*changes, *_variables(old, new), *_distributions(baseline, candidate))


def controls(measured: SideBySide) -> frozenset[str]:
    """Arms that nothing which moved can touch; none where that is all of them, since then they are what is compared."""
    return frozenset() if untouched(measured) else frozenset(_beyond_reach(measured))


def untouched(measured: SideBySide) -> bool:
    """Whether nothing that moved can touch an arm."""
    return len(_beyond_reach(measured)) == len(measured.baseline.arms)


def _beyond_reach(measured: SideBySide) -> list[str]:
    touched = {name for change in moved(measured.baseline, measured.candidate) for name in change.touches}
    return [arm.name for arm in measured.baseline.arms if not touched & {arm.name, *EVERYTHING}]


def other_board(old: Environment, new: Environment) -> str | None:
    """Why the two cannot be compared; None where they stand on one board."""
    ones = [(each.board.name, each.board.uuid, each.board.mig) for each in (old, new)]
    if ones[0] == ones[1]:
        return None
    return f"the baseline runs on {_board(old)} and the candidate on {_board(new)}: times of two boards say nothing of versions"


def _board(environment: Environment) -> str:
    board = environment.board
    return f"{board.name} ({board.uuid})" if board.uuid else board.name


def _variables(old: Environment, new: Environment) -> Iterator[Change]:
    before, after = dict(old.variables), dict(new.variables)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name), EVERYTHING)


def _distributions(baseline: Run, candidate: Run) -> Iterator[Change]:
    old, new = ({each.name: each for each in run.environment.distributions} for run in (baseline, candidate))
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before != after:
            touches = touched_by(name, baseline.arms, (baseline.environment, candidate.environment))
            yield Change(name, *_versions(before, after), touches)


def _versions(before: Distribution | None, after: Distribution | None) -> tuple[str | None, str | None]:
    """With a piece of the content hash where the version alone does not tell them apart."""
    same = before is not None and after is not None and before.version == after.version
    old, new = (None if found is None else _version(found, same) for found in (before, after))
    return old, new


def _version(found: Distribution, with_digest: bool) -> str:
    return f"{found.version} ({found.digest[:SHORT]})" if with_digest else found.version


def touched_by(distribution: str, arms: Iterable[Arm], environments: Iterable[Environment]) -> tuple[str, ...]:
    """Names of ``arms`` whose imports ``distribution`` is behind, on either side; all of them for torch and triton."""
    packages = packages_of(distribution, environments)
    if packages & EVERYWHERE:
        return EVERYTHING
    return tuple(arm.name for arm in arms if packages.intersection(arm.rests_on)) or ("no arm",)

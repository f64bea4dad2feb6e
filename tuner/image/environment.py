"""A list of packages as the serving environment it comes from, as far as it tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from backends.environment import Distribution, Environment
from backends.worker.distributions import COMPANIONS
from store.runs.run import Run
from tuner.doctor.known import KernelDistribution
from tuner.image.listing import Listing

NO_CONTENT = ""  # the digest of what is listed: nobody looked at its files

Pair = tuple[str, str]


def environment_of(listing: Listing, run: Run, distributions: tuple[KernelDistribution, ...]) -> Environment:
    """That of ``run`` with the Python and the distributions of ``listing``; board, CUDA and variables are in no such list."""
    found = tuple(Distribution(each.name, each.written, NO_CONTENT) for each in listing.found)
    return replace(
        run.environment,
        python=listing.python or run.environment.python,
        torch=_torch(listing, run.environment),
        distributions=found,
        imports=tuple(_imports(listing, run, distributions)),
    )


def _torch(listing: Listing, then: Environment) -> str | None:
    """As it calls itself, which where nothing moved the run knows best: the distribution's version may lack the CUDA tag."""
    torch = listing.of("torch")
    release = next((each.version for each in then.distributions if each.name == "torch"), None)
    return then.torch if torch is None or (release and torch.is_release(release)) else torch.version


def _imports(listing: Listing, run: Run, distributions: tuple[KernelDistribution, ...]) -> Iterator[Pair]:
    """(import name, distribution) as the worker pairs them, an import's owner after its companions: those of then that are still listed,
    after what is new and known to bring or to help an import. Companions of what is not listed itself run nothing."""
    then, listed = run.environment.imports, {each.name for each in listing.found}
    new = sorted(listed - {owner for _, owner in then})
    owned = [(name, owner) for owner in new for name in _brought(owner, distributions)]
    helping = [(name, helper) for name, helpers in COMPANIONS.items() for helper in helpers if helper in new]
    pairs = (*helping, *owned, *(pair for pair in then if pair[1] in listed))
    provided = {name for name, owner in pairs if owner not in COMPANIONS.get(name, ())}
    yield from (pair for pair in pairs if pair[0] in provided)


def _brought(distribution: str, known: tuple[KernelDistribution, ...]) -> tuple[str, ...]:
    return next((each.imports for each in known if fnmatchcase(distribution, each.name)), ())

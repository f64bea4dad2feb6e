"""attnpin installs five top-level modules with everyday names; another distribution's would be imported in their place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

from tuner.errors import UsageError

MODULES = ("conf", "tuner", "backends", "store", "reports")
OURS = "attnpin"


def refuse_foreign_modules(owners: Mapping[str, list[str]] | None = None) -> None:
    """Raises `UsageError` when one of our module names also belongs to someone else (an editable install lists none)."""
    listed = _installed() if owners is None else owners
    for module in MODULES:
        for owner in sorted(set(listed.get(module, [])) - {OURS}):
            raise UsageError(f"The module {module!r} also belongs to {owner}; install attnpin into an environment of its own")


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()

"""attnpin installs five top-level modules with everyday names; another distribution's would be imported in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import Distribution, distributions

from tuner.errors import UsageError

MODULES = ("conf", "tuner", "backends", "store", "reports")
OURS = "attnpin"
RECORDED = re.compile(rf"^({'|'.join(MODULES)})(?:/[^,\n]*)?\.py,", re.MULTILINE)  # a line of RECORD


def refuse_foreign_modules(owners: Mapping[str, list[str]] | None = None) -> None:
    """Raises `UsageError` when one of our module names also belongs to someone else (an editable install lists none)."""
    listed = _installed() if owners is None else owners
    for module in MODULES:
        for owner in sorted(set(listed.get(module, [])) - {OURS}):
            raise UsageError(f"The module {module!r} also belongs to {owner}; install attnpin into an environment of its own")


@cache
def _installed() -> Mapping[str, list[str]]:
    """What `importlib.metadata.packages_distributions` says of our modules; to read all of every distribution takes a tenth of a second."""
    owned = [(module, found) for found in distributions() for module in modules_of(found)]
    return {module: [found.metadata["Name"] for name, found in owned if name == module] for module, _ in owned}


def modules_of(distribution: Distribution) -> set[str]:
    """Those of ours that it brings too."""
    declared = distribution.read_text("top_level.txt")
    if declared:
        return set(declared.split()).intersection(MODULES)
    return set(RECORDED.findall(distribution.read_text("RECORD") or ""))

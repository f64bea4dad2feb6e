"""One serving environment as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass

from backends.condition import Installed, ServingCondition
from backends.environment import Environment


@dataclass(frozen=True)
class Patient:
    """``engine`` is the engine's name, ``in_use`` as in `Diagnosis`."""

    environment: Environment
    condition: ServingCondition
    in_use: dict[str, int | None] | str | None
    engine: str

    @property
    def torch(self) -> str | None:
        return self.environment.torch

    @property
    def cuda(self) -> str | None:
        """What this torch was built for; None for a torch without CUDA, or none."""
        return self.environment.cuda

    def installed(self, name: str) -> Installed | None:
        """The copy that is first on the path."""
        return next((each for each in self.condition.installed if each.name == name), None)

    def version(self, name: str) -> str | None:
        found = self.installed(name)
        return None if found is None else found.version

    def first_copies(self) -> tuple[Installed, ...]:
        """Every distribution once, as it is imported."""
        return tuple({each.name: each for each in reversed(self.condition.installed)}.values())[::-1]

    def switch(self, name: str) -> str | None:
        """The value of an environment variable that is no part of the key."""
        return dict(self.condition.variables).get(name)

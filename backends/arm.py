"""An arm: one backend with one setting of its knobs, and how it is driven."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from backends.deviation import Deviation

LIBRARY = "library"  # the knob of an adapter that may call one of several


class Provider(str, Enum):
    """ENGINE drives the serving engine's own backend object; KERNEL issues the engine's calls against the library alone."""

    ENGINE = "engine"
    KERNEL = "kernel"


@dataclass(frozen=True)
class Arm:
    """``backend`` is the engine's name for it ("fa3"); ``driver`` the worker class, "module:Class"; ``packages`` the
    import names it needs, ``optional`` those that it takes where they are there; ``page_size`` and ``kv_dtype`` (torch name) are what
    the server would run with. ``deviations``: what the backend is known to compute otherwise than the model asks.

    ``copy`` tells an arm from the same arm entered again, ``slowed`` is the share of further launches that slow it: both are
    there to measure the measuring itself.
    """

    backend: str
    provider: Provider
    driver: str
    page_size: int
    kv_dtype: str
    packages: tuple[str, ...] = ()
    knobs: tuple[tuple[str, str], ...] = ()
    copy: int = 1
    slowed: float = 0.0
    optional: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Import names whose distributions may change what it runs: one that is optional also by coming or going."""
        called = (value for name, value in self.knobs if name == LIBRARY)
        return tuple(dict.fromkeys((*self.packages, *self.optional, *called)))

    @property
    def is_original(self) -> bool:
        return self.copy == 1 and not self.slowed

    @property
    def name(self) -> str:
        """Unique within a run: backend, page size and knobs, with the provider where it is not the engine."""
        copy = (f"#{self.copy}" if self.copy > 1 else "") + (f"+{self.slowed:.3g}" if self.slowed else "")
        return f"{self.original_name}{copy}"

    @property
    def original_name(self) -> str:
        """Of the arm that this one is entered beside."""
        knobs = "".join(f",{key}={value}" for key, value in self.knobs)
        suffix = "" if self.provider is Provider.ENGINE else f"@{self.provider.value}"
        return f"{self.backend}/p{self.page_size}{knobs}{suffix}"

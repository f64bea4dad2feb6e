"""What comes with serving by an arm whatever its speed: known from the engine's rules before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass

from backends.serving_jit import ServingJit
from store.scenario import Exclusion


@dataclass(frozen=True)
class ServingTerms:
    """``pool_tokens``: KV capacity of the server at the arm's page size, by the engine's rule for its memory fraction (None =
    unknown). ``unused_tokens``: KV slots that a request leaves empty in its last page, on average. ``lacks``: features of
    `backends.question.FEATURES` that it cannot serve here. ``jit`` None = nobody has read when it builds kernels. ``barred``: the
    phases (None = both) in which it may not be pinned, whatever its speed; it was measured because the user named it."""

    arm: str
    pool_tokens: int | None
    unused_tokens: float
    lacks: tuple[str, ...]
    jit: ServingJit | None = None
    barred: tuple[Exclusion, ...] = ()

    @property
    def may_compile_while_serving(self) -> bool | None:
        return None if self.jit is None else self.jit.stalls_requests

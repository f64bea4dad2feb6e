"""vLLM's backends as shipped, and what its rules say of a scenario with everything plain unless a test says otherwise."""

from __future__ import annotations

from functools import cache
from typing import Any

from backends.capability import BackendEntry
from backends.gpu import Gpu
from backends.model import Model
from store.scenario import Scenario
from tests.tuner.scenarios import H100, LLAMA, scenario
from tuner.engines.rules import Settled
from tuner.engines.vllm import verbs
from tuner.settings import compose_backends

RULES = "0.33.0"


@cache
def entries() -> tuple[BackendEntry, ...]:
    return compose_backends(["engine=vllm"]).entries


def entry(name: str) -> BackendEntry:
    return next(one for one in entries() if one.name == name)


def on_vllm(board: Gpu = H100, asked: Model = LLAMA, **changes: Any) -> Scenario:
    """``changes`` are fields of the engine."""
    return scenario(board, asked, **{"name": "vllm", "version": RULES, **changes})


def settled(board: Gpu = H100, asked: Model = LLAMA, packages: dict[str, str] | None = None, **changes: Any) -> Settled:
    return verbs.settled(on_vllm(board, asked, **changes), entries(), RULES, packages)


def picked(board: Gpu = H100, asked: Model = LLAMA, **changes: Any) -> tuple[str, int]:
    """The backend and the block size; the test fails where the server would not start."""
    found = settled(board, asked, **changes)
    assert not found.refusals
    return found.default.decode, found.default.page_size

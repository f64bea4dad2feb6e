"""Where a job runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

ExecutorKind = Enum("ExecutorKind", ["local", "slurm", "ray"])


@dataclass
class ExecutorNode:
    kind: ExecutorKind = ExecutorKind.local
    exclusive_host: bool = True
    device: str | None = None
    numa: bool = True
    since: str | None = None
    spread: bool = False
    folder: str = "slurm"
    submit: bool = False
    options: list[str] = field(default_factory=list)
    at_once: int = 64
    address: str | None = None
    resources: list[str] = field(default_factory=list)

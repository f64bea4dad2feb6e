"""The key of every number: board, driver, interpreter, libraries with content hashes, variables that change kernels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """``digest`` covers the installed files' contents as RECORD lists them, so a rebuilt wheel of one version shows."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True)
class Board:
    """None = not readable here. ``mig`` names the slice. CPU: name of the processor, kind "cpu", the rest None."""

    kind: str
    name: str
    sm: int | None
    uuid: str | None
    memory_bytes: int | None
    power_limit_w: float | None
    mig: str | None
    driver: str | None
    sm_count: int | None = None
    l2_bytes: int | None = None
    smem_per_block_bytes: int | None = None
    max_sm_clock_mhz: int | None = None
    amx: bool = False


@dataclass(frozen=True)
class Environment:
    """``variables`` holds just those that change kernels and are set; ``imports`` maps import names to distributions."""

    board: Board
    python: str
    torch: str | None
    cuda: str | None
    triton: str | None
    distributions: tuple[Distribution, ...]
    variables: tuple[tuple[str, str], ...]
    image: str | None
    imports: tuple[tuple[str, str], ...]

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
    """None = not readable here. ``kind`` is one of `backends.gpu.KINDS`. ``mig`` is a slice's profile ("3g.71gb"): ``uuid``,
    memory and SMs are then the slice's, ``name`` and the power limit those of the GPU it is cut from. ``bandwidth_bytes_per_s``
    comes of memory clock and bus width. ``arch`` as in `backends.gpu.Gpu`. CPU: name of the processor, most else None."""

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
    arch: str | None = None
    bandwidth_bytes_per_s: float | None = None


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

    @property
    def releases(self) -> dict[str, str]:
        """The version behind each import name, "" where its distribution has none to read."""
        versions = {each.name: each.version for each in self.distributions}
        return {name: versions.get(owner, "") for name, owner in self.imports}

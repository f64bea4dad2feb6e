"""What a serving environment is made of, as far as it can be seen without importing a library and without using a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interest:
    """What to look for, where ``path`` are the folders of engine.path. ``distributions`` are normalised names
    ("flash-attn"); "NAME-*" stands for every name that begins so. The compiled files of those in ``compiled`` link to
    torch. ``variables`` are to be told where they are set."""

    distributions: tuple[str, ...]
    imports: tuple[str, ...]
    compiled: tuple[str, ...]
    variables: tuple[str, ...]
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Installed:
    """One distribution in one folder of the path. ``requires`` are its Requires-Dist entries as written."""

    name: str
    version: str
    folder: str
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provided:
    """An import name and the folders of the path that hold it. The first is imported and hides the others, unless
    ``merged``: they are portions of one namespace package."""

    name: str
    folders: tuple[str, ...]
    merged: bool = False


@dataclass(frozen=True)
class Overwritten:
    """Two distributions of one folder list ``files`` of the same names with other contents, such as ``example``.

    ``kept`` is the one whose content of ``example`` lies there; None = neither's.
    """

    first: str
    second: str
    files: int
    example: str
    kept: str | None


@dataclass(frozen=True)
class Fa4Copy:
    """``distribution`` brought a copy of FlashAttention 4 to ``place``, a folder below the path."""

    distribution: str
    place: str


@dataclass(frozen=True)
class Linked:
    """Compiled files of ``distribution`` held against the torch beside it. ``file`` is the first that cannot be loaded:
    ``missing`` names libraries of torch, or else mangled symbols, which that torch does not have."""

    distribution: str
    files: int
    file: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Toolkit:
    """The CUDA toolkit that FlashInfer and torch would compile with; ``version`` ("13.0") is nvcc's own word."""

    home: str
    version: str | None
    headers: bool


@dataclass(frozen=True)
class LeftLock:
    """A file that a build in a cache of kernels made to keep others out; it goes when the build ends, unless it was killed."""

    path: str
    age_s: float


@dataclass(frozen=True)
class Management:
    """What NVML does here. ``refused`` says why it does not work at all; ``readings`` whether each one is allowed on
    GPU 0. ``gpus`` counts those of the machine, hidden ones too."""

    refused: str | None
    gpus: int = 0
    readings: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class ServingCondition:
    """``gpus`` are the CUDA devices this process may use, in their order; ``driver_cuda`` the newest CUDA the driver serves.

    ``tools`` are those of a host compiler and ninja that were found, ``overlays`` the folders of engine.path, without links,
    as all folders here. ``linked`` is empty without torch.
    """

    installed: tuple[Installed, ...]
    provided: tuple[Provided, ...]
    overwritten: tuple[Overwritten, ...]
    fa4_copies: tuple[Fa4Copy, ...]
    linked: tuple[Linked, ...]
    toolkit: Toolkit | None
    tools: tuple[str, ...]
    locks: tuple[LeftLock, ...]
    management: Management
    gpus: tuple[str, ...]
    driver_cuda: str | None
    variables: tuple[tuple[str, str], ...]
    overlays: tuple[str, ...] = ()

"""What a running server was found to serve, held against a pin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from store.verdicts.verdict import Served

PREFILL, DECODE, PAGE_SIZE, KV_DTYPE, GRAPHS = "prefill", "decode", "page size", "KV dtype", "decode graphs"


class Standing(str, Enum):
    AS_PINNED = "as pinned"
    DIFFERENT = "different"
    UNKNOWN = "not determinable"


@dataclass(frozen=True)
class Quote:
    """Words of an engine without what a logger puts before them. ``where`` is "server.log line 12", ``at`` its time as printed, ``ranks``
    the worker ("DP0 TP1"); None = the line has none."""

    text: str
    where: str
    at: str | None = None
    ranks: str | None = None


@dataclass(frozen=True)
class Found:
    """A setting as the server runs it. ``why`` says how it likely came to be, ``said`` is the line that shows it."""

    value: str
    why: str
    said: Quote | None = None


@dataclass(frozen=True)
class Graphs:
    """Whether decode steps replay CUDA graphs; ``on`` None = nothing says so. ``sizes`` are the batch sizes that were captured, by the
    line of the capture, or by the arguments where ``sizes_by_arguments``. Of ``steps`` decode lines ``outside`` ran without a graph."""

    on: bool | None
    why: str
    said: Quote | None = None
    sizes: tuple[int, ...] = ()
    sizes_by_arguments: bool = False
    steps: int = 0
    outside: int = 0


@dataclass(frozen=True)
class Start:
    """One start of a server in its own words. ``settings`` holds what it said of `PREFILL`, `DECODE`, `PAGE_SIZE` and `KV_DTYPE`;
    ``missing`` names the lines that would say the rest; ``foreign``: why none of the backends that it names ran, or which other engine did.
    ``ready``: it had begun to serve. ``source`` tells the servers of one log apart. ``asked``: what else it was started for and a pin is
    of: "tensor parallel", "speculation", "deterministic"."""

    source: str
    began: Quote | None
    settings: tuple[tuple[str, Found], ...]
    graphs: Graphs
    missing: tuple[str, ...] = ()
    foreign: str | None = None
    notes: tuple[str, ...] = ()
    version: str | None = None
    ready: bool = False
    asked: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Difference:
    """``since``: where the first start lies that differs so without a break until now; ``before``: an earlier start was as pinned."""

    what: str
    pinned: str
    found: str
    since: Quote | None
    before: bool
    cause: str
    said: Quote | None


@dataclass(frozen=True)
class Server:
    """One server, by its newest start of ``starts``."""

    standing: Standing
    start: Start
    starts: int
    differences: tuple[Difference, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verified:
    """``flags`` are the pin's, ``pinned`` what they were decided for; ``exit_code`` is the command's."""

    standing: Standing
    sentence: str
    engine: str
    flags: tuple[tuple[str, str], ...]
    pinned: Served
    servers: tuple[Server, ...]
    exit_code: int
    notes: tuple[str, ...] = ()

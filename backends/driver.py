"""The contract between what measures (timing, correctness) and what is measured (one driver a backend)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.cell import Cell
    from backends.drafting import Drafting
    from backends.model import Model


class MissingPackage(Exception):
    """A module the driver needs cannot be imported; the text names it."""


class Refused(Exception):
    """The engine or library says this arm cannot run here; the text is its sentence."""


class FellBack(Exception):
    """Something else ran than was asked for, so its time says nothing of this arm; the text is the library's warning."""


@dataclass
class KvPool:
    """``slots`` layers of paged KV, as the engine's pool lays them out.

    ``k[slot]``: [pool_tokens + page_size, kv_heads, head_dim], ``v[slot]``: [.., kv_heads, value_head_dim], KV dtype,
    contiguous; the first page is where padded rows write. Token slots of requests start at ``page_size``.
    Of latent attention the pool holds k alone, and ``v`` are views of its head. ``scales``: what a stored key and a stored value
    are multiplied by, where the checkpoint's layers have scales for an 8-bit cache; None = they have none.
    """

    page_size: int
    pool_tokens: int
    k: list[torch.Tensor]
    v: list[torch.Tensor]
    scales: tuple[float, float] | None = None

    @property
    def slots(self) -> int:
        return len(self.k)


@dataclass
class CellData:
    """One cell laid out on the device. Addresses stay the same for the life of the object.

    ``req_to_token``: int32 [requests + 1, context_length], row 0 for padded requests (all zeros), row i+1 request i.
    ``seq_lens``: int64 [batch] keys incl. the new tokens. ``new_lens``, ``prefix_lens``: int64 [batch].
    ``out_cache_loc``: int64 [new_tokens], the pool slot of each new token. ``q``: [new_tokens, query_heads, head_dim],
    ``k_new``: [new_tokens, kv_heads, head_dim], ``v_new``: [new_tokens, kv_heads, value_head_dim], in the model dtype.
    The prefix is in ``pool`` already; the driver writes k_new and v_new there as the engine does.
    Latent attention: ``k_new`` are the latent vectors, ``v_new`` a view of their head, and where prefill projects them,
    ``up`` [query_heads, K's projected part + value_head_dim, latent head] holds the projections.
    ``sinks``: float32 [query_heads], the learned term of each head's denominator as a logit, None without sinks.
    """

    cell: Cell
    pool: KvPool
    req_to_token: torch.Tensor
    seq_lens: torch.Tensor
    new_lens: torch.Tensor
    prefix_lens: torch.Tensor
    out_cache_loc: torch.Tensor
    q: torch.Tensor
    k_new: torch.Tensor
    v_new: torch.Tensor
    up: torch.Tensor | None = None
    sinks: torch.Tensor | None = None


@dataclass
class Stage:
    """What a driver is opened on. ``model`` is whole, ``attention_tp`` ranks divide its heads; ``max_batch`` is the largest
    padded batch and ``max_new_tokens`` the longest prefill it will see; ``context_length`` the server's.
    ``graph_max_batch`` is the largest decode batch the engine captures (None = all of them, 0 = none); larger ones run eagerly.
    ``deterministic``: the server's results do not depend on its batches, for which backends launch other kernels and grids.
    ``drafting``: its speculative decoding, None = it decodes token by token."""

    device: torch.device
    model: Model
    attention_tp: int
    context_length: int
    chunked_prefill_size: int
    max_batch: int
    max_new_tokens: int
    graph_max_batch: int | None = None
    deterministic: bool = False
    drafting: Drafting | None = None
    extras: dict[str, Any] = field(default_factory=dict)  # state that arms of one process share (engine context, workspaces)


class PreparedCall(Protocol):
    """One arm ready on one cell.

    ``graph``: whether the engine would capture and replay it (decode inside the captured sizes) or launch it eagerly.
    ``resolved``: the inner path, known after the first launch.
    """

    graph: bool

    @property
    def resolved(self) -> str: ...

    def plan(self) -> None:
        """The step's metadata for the true lengths, host and device work, as the engine does before every step."""

    def capturing(self) -> AbstractContextManager[None]:
        """Entered around warm-up launches and recording; leaves everything so that plan() and a replay follow. What is recorded stands
        on padded rows alone, as in the engine: the cell's requests come with plan()."""

    def launch(self, slot: int) -> torch.Tensor:
        """One attention call of one layer on pool slot ``slot``, KV write included.

        Returns [padded tokens, query_heads, value_head_dim] (or 2-D with the heads flattened); live rows first.
        """

    def active(self) -> AbstractContextManager[None]:
        """Context needed around eager launches and plan(); may be a no-op."""

    def close(self) -> None: ...


class Driver(Protocol):
    """One backend opened in this process.

    Construction imports the library and builds the backend: raises `MissingPackage` or `Refused`.
    ``imports`` are the import names whose distributions this arm's numbers depend on. More attributes are read where a
    driver has them: ``warnings``, texts its library logged; ``server_bytes``, device memory it had to set up that a server
    has with every backend (None = not counted); ``import_ahead(packages)``, a static method that imports what construction
    would and touches no device.
    """

    imports: tuple[str, ...]

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None: ...

    def prepare(self, data: CellData) -> PreparedCall: ...

    def close(self) -> None: ...

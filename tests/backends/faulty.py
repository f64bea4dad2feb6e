"""Drivers that get one thing wrong, each in its own way. "backends" sees them through `Arm.driver` like any other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from backends.checks.attention import logits, visible
from backends.checks.reference import keys_and_values
from backends.driver import FellBack, Refused
from backends.kv.pool import row_bytes

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage

# (seen bool [rows, context], positions int64 [rows], page size, window) -> what the faulty kernel sees
Sight = Callable[["torch.Tensor", "torch.Tensor", int, "int | None"], "torch.Tensor"]


def right(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
    return seen


def without(key: Callable[[int, int], int]) -> Sight:
    """Loses ``key(position, page_size)``, unless that is all there is."""

    def blind(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
        for row, position in enumerate(positions.tolist()):
            lost = key(position, page_size)
            if 0 <= lost <= position and position > 0:
                seen[row, lost] = False
        return seen

    return blind


newest = without(lambda position, page: position)
oldest = without(lambda position, page: 0)
last_of_the_first_page = without(lambda position, page: page - 1 if position >= page else -1)
last_of_the_last_full_page = without(lambda position, page: (position + 1) // page * page - 1)
first_of_the_last_page = without(lambda position, page: (position + 1) // page * page)
half = without(lambda position, page: (position + 1) // 2 // 128 * 128)


def first_page(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
    seen[positions >= page_size, :page_size] = False
    return seen


def one_beyond_the_window(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
    return visible(positions, seen.shape[1], None if window is None else window + 1)


def the_future(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
    return visible(positions + 1, seen.shape[1], window)


class PlainCall:
    """Attention row by row over what ``sight`` leaves, in float32, K and V written first."""

    graph = False
    resolved = "plain"

    def __init__(self, data: CellData, sight: Sight = right) -> None:
        self.data = data
        self._sight = sight

    def plan(self) -> None:
        """No metadata."""

    def launch(self, slot: int) -> torch.Tensor:
        import torch

        self.write(slot)
        return torch.cat([self._request(slot, request) for request in range(self.data.cell.batch)]).to(self.data.q.dtype)

    def write(self, slot: int) -> None:
        for layer, new in ((self.data.pool.k[slot], self.data.k_new), (self.data.pool.v[slot], self.data.v_new)):
            row_bytes(layer)[self.data.out_cache_loc] = row_bytes(new.to(layer.dtype))

    def _request(self, slot: int, request: int) -> torch.Tensor:
        import torch

        cell = self.data.cell
        k, v = keys_and_values(self.data, slot, request, torch.float32)
        first, new = sum(cell.new_lens[:request]), cell.new_lens[request]
        positions = torch.arange(cell.prefix_lens[request], cell.context_lens[request], device=k.device)
        scores = logits(self.data.q[first : first + new].float(), k, cell.layer, None)
        window = cell.layer.sliding_window
        seen = self._sight(visible(positions, len(k), window, cell.draft), positions, self.data.pool.page_size, window)
        weights = torch.softmax(scores.masked_fill(~seen[:, None, None], -torch.inf), dim=-1)
        return torch.einsum("rhgk,khd->rhgd", weights, v).flatten(1, 2)

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is held."""


class ForgetsTheWrite(PlainCall):
    """Right outputs while the pool never sees the new rows."""

    def launch(self, slot: int) -> torch.Tensor:
        poisoned = [layer[self.data.out_cache_loc].clone() for layer in (self.data.pool.k[slot], self.data.pool.v[slot])]
        output = super().launch(slot)
        for layer, rows in zip((self.data.pool.k[slot], self.data.pool.v[slot]), poisoned):
            layer[self.data.out_cache_loc] = rows
        return output


class MergesTwoParts(PlainCall):
    """The pool's rows of the whole context, as they lie and to every query, merged with the new tokens; written afterwards."""

    def launch(self, slot: int) -> torch.Tensor:
        import torch

        output = torch.cat([self._merged(slot, request) for request in range(self.data.cell.batch)]).to(self.data.q.dtype)
        self.write(slot)
        return output

    def _merged(self, slot: int, request: int) -> torch.Tensor:
        import torch

        cell = self.data.cell
        k, v = keys_and_values(self.data, slot, request, torch.float32)
        first, new = sum(cell.new_lens[:request]), cell.new_lens[request]
        tokens = slice(first, first + new)
        k, v = (torch.cat([pool, own[tokens].float()]) for pool, own in ((k, self.data.k_new), (v, self.data.v_new)))
        scores = logits(self.data.q[tokens].float(), k, cell.layer, None)
        seen = torch.nn.functional.pad(visible(torch.arange(new), new, None), (len(k) - new, 0), value=True)
        weights = torch.softmax(scores.masked_fill(~seen[:, None, None], -torch.inf), dim=-1)
        return torch.einsum("rhgk,khd->rhgd", weights, v).flatten(1, 2)


class LeavesOneUnwritten(PlainCall):
    def launch(self, slot: int) -> torch.Tensor:
        output = super().launch(slot)
        output[-1, -1, -1] = float("nan")
        return output


class TooFast(PlainCall):
    """Answers from memory once it has computed: right, and faster than any memory."""

    def launch(self, slot: int) -> torch.Tensor:
        key = (slot, float(self.data.q.sum()))
        self.known = getattr(self, "known", {})
        if key not in self.known:
            self.known[key] = super().launch(slot)
        self.write(slot)
        return self.known[key]


class WearsOut(PlainCall):
    """Right for its first launches only."""

    launches = 0

    def launch(self, slot: int) -> torch.Tensor:
        self.launches += 1
        return super().launch(slot) * (1.0 if self.launches < 8 else 1.01)


class Plain:
    """A right driver; subclasses replace the call."""

    imports = ("torch",)
    call: type[PlainCall] = PlainCall

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        self.knobs = dict(arm.knobs)

    def prepare(self, data: CellData) -> PreparedCall:
        return self.call(data)

    def close(self) -> None:
        """Nothing is held."""


class DropsNewest(Plain):
    def prepare(self, data: CellData) -> PreparedCall:
        return PlainCall(data, newest)


class WritesNothing(Plain):
    call = ForgetsTheWrite


class Impossible(Plain):
    call = TooFast


class Spoils(Plain):
    call = WearsOut


class FallsBack(Plain):
    def prepare(self, data: CellData) -> PreparedCall:
        raise FellBack("another kernel ran instead")


class RunsOutOnDecode(Plain):
    """Out of memory on cells named "decode", right on others."""

    def prepare(self, data: CellData) -> PreparedCall:
        import torch

        if data.cell.name == "decode":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return PlainCall(data)


class Unwilling(Plain):
    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        raise Refused("this backend asserts page size 64")

"""Which rows of a cell's output are checked against the reference when all of them would cost too much."""

from __future__ import annotations

from dataclasses import dataclass

from backends.cell import Cell


@dataclass(frozen=True)
class RequestRows:
    """Some query tokens of one request: ``rows`` in the cell's output, ``positions`` in the request's context."""

    request: int
    rows: tuple[int, ...]
    positions: tuple[int, ...]


def choose_rows(cell: Cell, pairs: int) -> tuple[RequestRows, ...]:
    """Requests from the shortest to the longest context, both always among them, each with its first and last new token.

    About ``pairs`` products of a query head and a key in all; everything when that suffices.
    """
    order = sorted(range(cell.batch), key=lambda request: cell.context_lens[request])
    affordable = max(2, pairs // (max(cell.context_lens) * cell.layer.query_heads))
    requests = [order[place] for place in spread(cell.batch, affordable)]
    each = max(2, affordable // len(requests))
    return tuple(_rows_of(cell, request, each) for request in requests)


def _rows_of(cell: Cell, request: int, count: int) -> RequestRows:
    first = sum(cell.new_lens[:request])
    chosen = spread(cell.new_lens[request], count)
    prefix = cell.prefix_lens[request]
    return RequestRows(request, tuple(first + new for new in chosen), tuple(prefix + new for new in chosen))


def spread(size: int, count: int) -> list[int]:
    """``count`` places of ``range(size)`` at even distances, ends included (all when there are no more)."""
    if count >= size:
        return list(range(size))
    return sorted({round(step * (size - 1) / (count - 1)) for step in range(count)})

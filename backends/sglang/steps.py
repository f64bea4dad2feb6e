"""The rows and the ForwardBatch of a cell, whichever step of the engine it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.sglang.batches import DecodeRows, decode_batch, extend_batch, padded_rows, true_rows
from backends.sglang.verify import full_mask, open_mask, verify_batch, verify_input, verify_rows

if TYPE_CHECKING:
    from backends.drafting import Drafting
    from backends.driver import CellData


def rows_of(data: CellData) -> DecodeRows:
    """The true rows of a cell that generates."""
    return verify_rows(data) if data.cell.verifies else true_rows(data)


def static_rows(data: CellData, fill: int) -> DecodeRows:
    """Rows of the captured size the cell is padded to, all of them padding of length ``fill``."""
    return padded_rows(data.cell.padded_batch, fill, data.seq_lens.device, len(data.cell.draft) or 1)


def true_batch(data: CellData, drafting: Drafting | None) -> Any:
    """The batch of the cell's requests as they are. Raises ValueError for a draft that is not the server's."""
    if not data.cell.generates:
        return extend_batch(data)
    rows = rows_of(data)
    if not data.cell.verifies:
        return decode_batch(rows)
    if drafting is None or drafting.tokens != rows.width:
        raise ValueError(f"cell {data.cell.name} verifies {rows.width} tokens a request, the server {drafting and drafting.tokens}")
    return verify_batch(rows, verify_input(rows, full_mask(data.cell, data.q.device), drafting))


def static_batch(data: CellData, rows: DecodeRows, fill: int, drafting: Drafting | None) -> Any:
    """The batch that is captured over ``rows``, which are all padding of length ``fill``."""
    if drafting is None or not data.cell.verifies:
        return decode_batch(rows)
    return verify_batch(rows, verify_input(rows, open_mask(rows, fill), drafting))

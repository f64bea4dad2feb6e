"""Records in a Parquet file: one row a record, its value as JSON; the header stands in the schema's metadata. Needs pyarrow."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from store.digest import canonical
from store.errors import ExchangeError
from store.exchange.items import Item, Plain
from store.files import write_pieces

COLUMNS = ("record", "id", "sha256", "origin", "value")
AS_JSON = ("origin", "value")
KEY = b"attnpin"
ROWS = 16  # of one group: what is held in memory at once


def write(path: Path, header: Plain, items: Iterable[Item]) -> None:
    write_pieces(path, _pieces(header, items))


def _pieces(header: Plain, items: Iterable[Item]) -> Iterator[bytes]:
    """The file, a group of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in COLUMNS]).with_metadata({KEY: canonical(header).encode()})
    rest, written = iter(items), _Written()
    with pq.ParquetWriter(written, schema, compression="zstd") as writer:
        while group := [_row(item) for item in islice(rest, ROWS)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            yield written.taken()
    yield written.taken()


class _Written(io.RawIOBase):
    """A file that is written from its beginning to its end and gives away what it has got so far."""

    def __init__(self) -> None:
        self._held, self._size = bytearray(), 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._held += content
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        content, self._held = bytes(self._held), bytearray()
        return content


def header(path: Path) -> Any:
    metadata = _opened(path).schema_arrow.metadata or {}
    return json.loads(metadata.get(KEY, b"{}"))


def records(path: Path) -> Iterator[Plain]:
    """Raises `ExchangeError` for columns that are not attnpin's."""
    for group in _opened(path).iter_batches(batch_size=ROWS):
        for row in group.to_pylist():
            try:
                yield {**row, **{name: None if row[name] is None else json.loads(row[name]) for name in AS_JSON}}
            except (KeyError, ValueError, RecursionError):
                raise ExchangeError(f"{path} has a row that attnpin db export did not write; export it again") from None


def _row(item: Item) -> dict[str, str | None]:
    origin = None if item.origin is None else canonical(item.origin)
    return {"record": item.kind.value, "id": item.id, "sha256": item.sha256, "origin": origin, "value": canonical(item.value)}


def _opened(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except OSError as error:
        raise ExchangeError(f"{path} cannot be read ({error.strerror or error}); name what attnpin db export wrote") from None
    except pa.ArrowInvalid:
        raise ExchangeError(f"{path} is cut short, changed, or no Parquet file; export it again") from None

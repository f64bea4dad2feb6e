"""Records in a Parquet file: one row a record, its value as JSON; the header stands in the schema's metadata, how many rows there are
and their digest at the end. Needs pyarrow."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from store.digest import canonical
from store.errors import ExchangeError
from store.exchange.items import Item, Plain
from store.files import write_pieces

COLUMNS = ("record", "id", "sha256", "origin", "value")
AS_JSON = ("origin", "value")
KEY, END = b"attnpin", b"attnpin end"
ROWS = 16  # of one group: what is held in memory at once


def write(path: Path, header: Plain, items: Iterable[Item]) -> None:
    write_pieces(path, _pieces(header, items))


def _pieces(header: Plain, items: Iterable[Item]) -> Iterator[bytes]:
    """The file, a group of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in COLUMNS]).with_metadata({KEY: canonical(header).encode()})
    rest, written, tally = iter(items), _Written(), _Tally()
    with pq.ParquetWriter(written, schema, compression="zstd") as writer:
        while group := [tally.counted(_row(item)) for item in islice(rest, ROWS)]:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            yield written.taken()
        writer.add_key_value_metadata({END: canonical(tally.said)})
    yield written.taken()


class _Tally:
    """Of rows: how many, and the digest of what they say."""

    def __init__(self) -> None:
        self.count, self._digest = 0, hashlib.sha256()

    def counted(self, row: Plain) -> Plain:
        self.count += 1
        self._digest.update(canonical(row).encode())
        return row

    @property
    def said(self) -> Plain:
        return {"records": self.count, "sha256": self._digest.hexdigest()}


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
    """Raises `ExchangeError`, as `records` does, for a file that is not whole."""
    with _whole(path) as file:
        return json.loads((file.schema_arrow.metadata or {}).get(KEY, b"{}"))


def records(path: Path) -> Iterator[Plain]:
    """Raises `ExchangeError` for columns that are not attnpin's. Files that attnpin wrote at first say of their end no more than how many
    rows there are."""
    with _whole(path) as file:
        tally = _Tally()
        for group in file.iter_batches(batch_size=ROWS):
            yield from (_record(path, row, tally) for row in group.to_pylist())
        end = json.loads((file.metadata.metadata or {}).get(END, b"null"))
        if file.metadata.num_rows != tally.count or end not in (None, tally.said):
            raise _damaged(path)


def _record(path: Path, row: Plain, tally: _Tally) -> Plain:
    try:
        return {**tally.counted(row), **{name: None if row[name] is None else json.loads(row[name]) for name in AS_JSON}}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ExchangeError(f"{path} has a row that attnpin db export did not write; export it again") from None


def _row(item: Item) -> dict[str, str | None]:
    origin = None if item.origin is None else canonical(item.origin)
    return {"record": item.kind.value, "id": item.id, "sha256": item.sha256, "origin": origin, "value": canonical(item.value)}


@contextmanager
def _whole(path: Path) -> Iterator[Any]:
    """The opened file. What pyarrow raises inside, of a damaged page an OSError, comes out as an `ExchangeError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as raw, pq.ParquetFile(raw) as file:
            yield file
    except OSError as error:
        if error.errno is not None:
            raise ExchangeError(f"{path} cannot be read ({error.strerror}); name what attnpin db export wrote") from None
        raise _damaged(path) from None
    except (pa.ArrowException, ValueError):
        raise _damaged(path) from None


def _damaged(path: Path) -> ExchangeError:
    return ExchangeError(f"{path} is cut short, changed, or no Parquet file; export it again")

"""Items in a file: JSON lines (`.jsonl`, `.jsonl.zst`) or Parquet, with a header, a digest an item, and whether it is whole."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from store.digest import canonical
from store.errors import ExchangeError
from store.evidence.run_evidence import END, read_evidence
from store.evidence.run_evidence import HEADER as EVIDENCE
from store.exchange.items import Item, Kind, Plain
from store.exchange.records import checked_header, item_of, record_of
from store.exchange.taken_runs import value_of
from store.files import write_pieces

LEVEL = 9
ZST, PARQUET = ".zst", ".parquet"
ENDINGS = (".jsonl", ".jsonl.zst", PARQUET)


@dataclass(frozen=True)
class Contents:
    """``items`` reads the file again each time it is called; all of them were found whole. ``sha256`` is the file's."""

    header: Plain
    sha256: str
    items: Callable[[], Iterator[Item]]


def write_items(path: Path, header: Plain, items: Iterable[Item]) -> None:
    """Raises `StoreError`, `ExchangeError` for a name that does not say which form; ImportError for Parquet without pyarrow."""
    if not path.name.endswith(ENDINGS):
        raise ExchangeError(f"{path} says by its name none of the forms that are written; end it in one of {', '.join(ENDINGS)}")
    if path.suffix == PARQUET:
        from store.exchange import parquet

        parquet.write(path, header, items)
        return
    lines = _lines(header, items)
    write_pieces(path, _compressed(lines) if path.suffix == ZST else lines)


def read_items(path: Path) -> Contents:
    """A file of exported items, or the evidence of one pin. Every item is read once before any is given. Raises `ExchangeError`,
    `NewerSchema`, `EvidenceError`; ImportError for Parquet without pyarrow."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ExchangeError(f"{path} is a pipe or a device, and is read more than once; write it to a file and name that")
    if path.suffix == PARQUET:
        from store.exchange import parquet

        header, records = parquet.header(path), partial(parquet.records, path)
    else:
        header, records = next(_parsed(path), (None, b""))[0], partial(_records, path)
        if header is not None and header.get("record") == EVIDENCE:
            return _evidence(path)
    checked_header(path, header)
    items = partial(_items, path, records)
    for _ in items():
        pass
    return Contents(header, _file_digest(path), items)


def _items(path: Path, records: Callable[[], Iterator[Plain]]) -> Iterator[Item]:
    return (item_of(path, record) for record in records())


def _evidence(path: Path) -> Contents:
    run = read_evidence(path)
    header = {"record": EVIDENCE, "tool_version": run.tool_version, "created": run.created}
    return Contents(header, _file_digest(path), lambda: iter([Item(Kind.RUN, run.id, value_of(run), reduced=True)]))


def _lines(header: Plain, items: Iterable[Item]) -> Iterator[bytes]:
    digest, count = hashlib.sha256(), 0
    yield _line(header, digest)
    for item in items:
        yield _line(record_of(item), digest)
        count += 1
    yield (canonical({"record": END, "records": count, "sha256": digest.hexdigest()}) + "\n").encode()


def _line(record: Plain, digest: Any) -> bytes:
    line = (canonical(record) + "\n").encode()
    digest.update(line)
    return line


def _compressed(lines: Iterable[bytes]) -> Iterator[bytes]:
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
    for line in lines:
        yield packer.compress(line)
    yield packer.flush()


def _records(path: Path) -> Iterator[Plain]:
    digest, count, ended = hashlib.sha256(), -1, False
    for record, line in _parsed(path):
        ended = record.get("record") == END
        if ended:
            if (record.get("records"), record.get("sha256")) != (count, digest.hexdigest()):
                raise ExchangeError(f"{path} was changed or damaged since it was exported; export it again")
            continue
        digest.update(line)
        count += 1
        if count:
            yield record
    if not ended:
        raise ExchangeError(f"{path} is cut short; copy or export it again")


def _parsed(path: Path) -> Iterator[tuple[Plain, bytes]]:
    try:
        with path.open("rb") as file:
            stream: Any = zstandard.ZstdDecompressor().stream_reader(file) if path.suffix == ZST else file
            for line in io.BufferedReader(stream) if path.suffix == ZST else stream:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("no record")
                yield record, line
    except OSError as error:
        raise ExchangeError(f"{path} cannot be read ({error.strerror}); name a file that attnpin db export wrote") from None
    except (zstandard.ZstdError, ValueError, RecursionError):  # the last: brackets 1000 deep
        raise ExchangeError(f"{path} is cut short, changed, or no file that attnpin db export wrote; export it again") from None


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

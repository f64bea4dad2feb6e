"""What stands in a file of exported items: its header, and items as records, each checked when it is read. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store.errors import ExchangeError, NewerSchema
from store.exchange.items import EXCHANGE_SCHEMA, HEADER, Item, Kind, Plain


def header_of(tool_version: str, store_schema: str, created: str) -> Plain:
    return {"record": HEADER, "schema": EXCHANGE_SCHEMA, "store_schema": store_schema, "tool_version": tool_version, "created": created}


def record_of(item: Item) -> Plain:
    return {"record": item.kind.value, "id": item.id, "sha256": item.sha256, "origin": item.origin, "value": item.value}


def item_of(path: Path, record: Plain) -> Item:
    """Raises `ExchangeError` for one that was changed, or is of a kind that is not known."""
    try:
        item = Item(Kind(record["record"]), str(record["id"]), {**record["value"]}, record["origin"])
        sha256 = item.sha256
    except (KeyError, ValueError, TypeError):
        raise ExchangeError(f"{path} holds a record that is none of attnpin's ({str(record)[:60]}); export it again") from None
    if sha256 != record.get("sha256"):
        raise ExchangeError(f"{item.kind.value} {item.id} in {path} was changed or damaged since it was exported; export it again")
    return item


def checked_header(path: Path, header: Any) -> None:
    if header is None:
        raise ExchangeError(f"{path} is empty or cut short; copy or export it again")
    if not isinstance(header, dict) or header.get("record") != HEADER or not isinstance(header.get("schema"), int):
        raise ExchangeError(f"{path} holds no runs of attnpin's; give what attnpin db export wrote, or a pin's evidence")
    if header["schema"] > EXCHANGE_SCHEMA:
        raise NewerSchema(
            f"{path} has schema {header['schema']} and this attnpin reads schemas up to {EXCHANGE_SCHEMA}; install a newer attnpin"
        )

"""Knobs of the adapters that read a page table: they show what such a table's width is worth, and no server has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.paged.calls import Server

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import Stage

TABLE = "page_table"
KNOBS = {TABLE: ("context", "batch")}


def server_of(arm: Arm, stage: Stage, wide_eagerly: bool = False) -> Server:
    """``page_table``: room for a whole context or for the longest request of the batch, left alone as the engine has it."""
    asked = dict(arm.knobs).get(TABLE)
    return Server(stage.context_length, stage.graph_max_batch, None if asked is None else asked == "context", wide_eagerly)

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from backends.kinds import DriverOfKinds


class Logging:
    """Logs into a list that it shares with others, as the drivers of one engine do."""

    imports = ("sglang", "torch")

    def __init__(self, warnings: list[str], server_bytes: int | None) -> None:
        self.warnings = warnings
        self.server_bytes = server_bytes


def of_kinds(*drivers: Any) -> DriverOfKinds:
    return DriverOfKinds([(SimpleNamespace(), driver) for driver in drivers])  # type: ignore[misc]


def test_what_an_engine_logs_after_it_was_opened_is_told_once() -> None:
    log = ["at first"]
    driver = of_kinds(Logging(log, 1), Logging(log, 2))
    log.append("while it ran")
    assert driver.warnings == ("at first", "while it ran") and driver.imports == ("sglang", "torch")


def test_what_a_server_would_hold_is_counted_of_every_kind_or_not_at_all() -> None:
    assert of_kinds(Logging([], 1), Logging([], 2)).server_bytes == 3
    assert of_kinds(Logging([], 1), Logging([], None)).server_bytes is None

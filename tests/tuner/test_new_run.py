from __future__ import annotations

import pytest

from tuner.new_run import command_line


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["model=tiny", "pin.path=a b.yaml"], "attnpin tune model=tiny 'pin.path=a b.yaml'"),
        (["store.url=postgresql+psycopg://u:s3cret@h/d"], "attnpin tune 'store.url=postgresql+psycopg://u:***@h/d'"),
        (
            ["store.url=postgresql+psycopg://u@h/d", "store.url=sqlite:///a.db"],
            "attnpin tune store.url=postgresql+psycopg://u@h/d store.url=sqlite:///a.db",
        ),
        (["model=tiny", "executor.device=GPU-1", "executor.since='2026'", "--json", "json=true"], "attnpin tune model=tiny"),
    ],
)
def test_a_command_is_kept_without_passwords_and_without_where_it_ran(typed: list[str], kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["attnpin", *typed])
    assert command_line("tune") == kept

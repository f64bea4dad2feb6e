"""What is shown and stored of a URL has no password, wherever libpq lets one stand."""

from __future__ import annotations

import pytest

from store.database.passwords import without_password


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql+psycopg://u:s3cret@h/d", "postgresql+psycopg://u:***@h/d"),
        ("postgresql+psycopg://:s3cret@h/d", "postgresql+psycopg://:***@h/d"),
        ("store.url='postgresql\\://u\\:s3cret@h/d'", "store.url='postgresql\\://u\\:***@h/d'"),
        ("postgresql://u@/d?host=/tmp&password=s3cret&sslmode=require", "postgresql://u@/d?host=/tmp&password=***&sslmode=require"),
        ("store.url='postgresql://h/d?sslpassword=s3cret' model=tiny", "store.url='postgresql://h/d?sslpassword=***' model=tiny"),
        ("postgresql://user@azure:s3cret@h/d", "postgresql://user@azure:***@h/d"),
        ("postgresql://u:s3/cret@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:s3 cret@h/d", "postgresql://u:***@h/d"),
        ("tune 'store.url=postgresql://u:s3 cret@h/d' pin.path=a@b", "tune 'store.url=postgresql://u:***@h/d' pin.path=a@b"),
        ("tune 'a=[b]' store.url=postgresql://h:5432/d pin.path=a@b", "tune 'a=[b]' store.url=postgresql://h:5432/d pin.path=a@b"),
        ("tune store.url=postgresql://h:5432/d pin.path=a@b", "tune store.url=postgresql://h:5432/d pin.path=a@b"),
        ("postgresql+psycopg://u@h:5432/d", "postgresql+psycopg://u@h:5432/d"),
        ("sqlite:////home/u/a:b@c.db", "sqlite:////home/u/a:b@c.db"),
    ],
)
def test_a_password_is_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert without_password(text) == shown

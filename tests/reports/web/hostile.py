"""Records whose names want to leave the place they are shown in."""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import strategies as st

from backends.wire import from_plain, to_plain

PIECES = (
    *(
        "</script>",
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='x",
        "<!--",
        "-->",
        "]]>",
        "</svg>",
        "</style>",
    ),
    *(
        "{{ 7 * 7 }}",
        "{% raw %}",
        "&lt;",
        "&#x3c;",
        "$x^2$",
        r"$\frac",
        r"\1\g<0>",
        "javascript:x",
        "url(#x)",
        'id="x"',
        "#000010",
        "\x00",
        "\u2028",
    ),
    *("漢", "😀", "é", "word", " "),
)
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), st.text(max_size=30))
Record = TypeVar("Record")


def renamed(record: Record, old: str, new: str) -> Record:
    """``record`` with ``new`` for ``old`` in every string of its own."""
    return from_plain(type(record), _replaced(to_plain(record), old, new))


def _replaced(plain: Any, old: str, new: str) -> Any:
    if isinstance(plain, dict):
        return {key: _replaced(value, old, new) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_replaced(value, old, new) for value in plain]
    return plain.replace(old, new) if isinstance(plain, str) else plain

"""A page with one table, which needs nothing beside it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass

from reports.page import Table

STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:2rem;max-width:100rem}table{border-collapse:collapse}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .8rem;border-bottom:1px solid #ccc}"
    "td:first-child{font-family:ui-monospace,monospace}.bad td{color:#a00}.open td{color:#666}"
)


@dataclass(frozen=True)
class Dress:
    """Of one row. ``kind`` is "", "bad" or "open"; the cell in column ``linked`` leads to ``link``, relative to the page."""

    kind: str = ""
    linked: int | None = None
    link: str = ""


def render(title: str, sentences: Iterable[str], table: Table, dresses: Iterable[Dress]) -> str:
    paragraphs = "\n".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.header)
    rows = "\n".join(_row(cells, dress) for cells, dress in zip(table.rows, dresses))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body><h1>{html.escape(title)}</h1>\n{paragraphs}\n<table>\n<tr>{head}</tr>\n{rows}\n</table></body></html>\n"
    )


def _row(cells: tuple[str, ...], dress: Dress) -> str:
    shown = [html.escape(cell) for cell in cells]
    if dress.linked is not None:
        shown[dress.linked] = f'<a href="{html.escape(dress.link)}">{shown[dress.linked]}</a>'
    return f'<tr class="{dress.kind}">' + "".join(f"<td>{cell}</td>" for cell in shown) + "</tr>"

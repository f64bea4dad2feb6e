"""The page as one HTML file: no request leaves it, and a browser is told to allow none."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from reports.page import Command, Section, Table, clean
from reports.web.page import Dress, WebPage

ROOM = files("reports.web")


def render(page: WebPage) -> str:
    """The same text for the same page. Every word is escaped; the plots alone are markup already, as `reports.web.ink` made them."""
    script = _source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _template().render(page=page, style=Markup(_source("page.css")), script=Markup(script), digest=digest)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters |= {"clean": clean, "markup": Markup}
    environment.globals |= {"plain": Dress()}
    environment.tests |= {
        "listed": _listed,
        "table": lambda part: isinstance(part, Table),
        "command": lambda part: isinstance(part, Command),
    }
    return environment.from_string(_source("page.html.j2"))


def _listed(section: Section) -> bool:
    """Several sentences and nothing else."""
    return len(section.body) > 2 and all(isinstance(part, str) for part in section.body)


def _source(name: str) -> str:
    return (ROOM / name).read_text(encoding="utf-8")

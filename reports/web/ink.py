"""Matplotlib's SVG as a page of two colour schemes needs it: colours by name, text as text, no identifier twice.

A plot is drawn in stand-in colours, each of which becomes one of the page's CSS variables.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

MARKS = ("o", "s", "D", "^", "v", "P", "X", "*")
SERIES = tuple(f"#0000{10 + number:02x}" for number in range(len(MARKS)))
INK, MUTED, GRID, BAND, PAPER, GOOD, BAD = (f"#0001{number:02x}" for number in range(7))
NAMES = {
    **{colour: f"--series-{number}" for number, colour in enumerate(SERIES, 1)},
    **{INK: "--ink", MUTED: "--muted", GRID: "--line", BAND: "--band", PAPER: "--paper", GOOD: "--good", BAD: "--bad"},
}
WIDTH_INCHES = 4.4
STYLE: Any = {
    **{"svg.fonttype": "none", "svg.image_inline": True, "text.parse_math": False, "axes.formatter.use_mathtext": False},
    **{"font.family": "sans-serif", "font.size": 10.5, "axes.labelsize": 10, "legend.frameon": False},
    **{"text.color": INK, "axes.labelcolor": MUTED, "xtick.color": GRID, "ytick.color": GRID},
    **{"xtick.labelcolor": MUTED, "ytick.labelcolor": INK, "axes.edgecolor": GRID, "grid.color": GRID, "hatch.color": PAPER},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.facecolor": "none", "figure.facecolor": "none"},
    **{"lines.markersize": 6.5, "errorbar.capsize": 0, "grid.linewidth": 0.8, "axes.linewidth": 0.8},
}
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
OUTSIDE = re.compile(r"^.*?(?=<svg)", re.DOTALL)  # an XML declaration and a doctype, which HTML has no use for
DROPPED = re.compile(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)  # the style would hold for all of the page
SIZE = re.compile(r'(?<=<svg) ((?:(?!>).)*?)width="[\d.]+pt" height="[\d.]+pt"', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NAMED = re.compile(r'(\bid="|xlink:href="#|url\(#)')
COLOUR = re.compile("|".join(map(re.escape, NAMES)))
FINE = re.compile(r"(\d\.\d\d)\d+")  # a hundredth of a point is enough
FONT = re.compile(r"font: ([\d.]+px)[^;\"]*")
LONGEST = 24

Draw = Callable[[Any], None]


def mark(number: int) -> str:
    return MARKS[number % len(MARKS)]


def colour(number: int) -> str:
    return SERIES[number % len(SERIES)]


def short(label: str) -> str:
    """A label that leaves room for its plot."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 3]}..."


def drawn(name: str, label: str, height_inches: float, draw: Draw) -> str:
    """SVG to stand within HTML; ``name`` is the plot's own on its page, ``label`` what it is called to a reader who does not see it.
    ``draw`` gets matplotlib's axes. The same marks give the same text. Raises ImportError without matplotlib."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({**STYLE, "svg.hashsalt": name}), _any_script():
        figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.subplots())
        held = io.StringIO()
        figure.savefig(held, format="svg", metadata=NO_METADATA)
    return _for_a_page(held.getvalue(), name, label)


@contextmanager
def _any_script() -> Iterator[None]:
    """The browser has fonts for what ours here lack."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _for_a_page(svg: str, name: str, label: str) -> str:
    inner = DROPPED.sub("", OUTSIDE.sub("", svg))
    inner = SIZE.sub(lambda found: f' role="img" aria-label="{escape(label)}" {found[1]}', inner, count=1)
    return TAG.sub(lambda tag: _named(tag.group(), name), inner).strip()


def _named(tag: str, name: str) -> str:
    """What is between tags are words, and stays as it is."""
    tag = FONT.sub(r"font-size: \1", NAMED.sub(rf"\g<1>{name}-", FINE.sub(r"\1", tag)))
    return COLOUR.sub(lambda found: f"var({NAMES[found.group()]})", tag)

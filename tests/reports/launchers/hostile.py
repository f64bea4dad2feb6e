"""Pins that nobody's tuning wrote: every text of theirs holds what some form takes for its own."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from reports.launchers.launcher import Launcher, flags_of
from store.pins.pin import Pin
from tests.reports import building

PIECES = (
    *("'", '"', " ", "\n", "\r\n", "\t", "\\", "\\\n", "$", "${HOME}", "$(touch x)", "$$", "`id`", "%", "%n", "%%", "#", " # ", ": ", "- "),
    *(";", "&&", "|", ">", "*", "!", "{{", "}}", "{", "[", ",", "=", "--config", "---", "\n---\n", "...", "~", "null", "no", "0x1f", "1e3"),
    *("é", "漢", "😀", "\u2028", "\x85", "\x7f", "\ufeff", "\nservices:\n  x: y", "'; rm -rf x; '", "0", "007", "fa3", "word"),
)
NO_TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # what no argument of a process may hold
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.text(NO_TEXT, max_size=40))
REASONS = st.one_of(TEXTS, st.sampled_from(PIECES).map(lambda piece: piece * 400))
NAMES = ("decode-attention-backend", "prefill-attention-backend", "kv-cache-dtype", "page-size")


@st.composite
def pins(draw: st.DrawFn, values: st.SearchStrategy[str] = TEXTS, names: tuple[str, ...] = NAMES, engine: str = "sglang") -> Pin:
    """Some of ``names`` with values of any kind, and reasons, run and board of any kind; in one of a few nothing is set."""
    pin = building.pin()
    some = draw(st.lists(st.sampled_from(names), unique=True))
    return replace(
        pin,
        engine=engine,
        flags=tuple((name, draw(values)) for name in some),
        because=tuple((name, draw(REASONS)) for name in some),
        unset=None if some else draw(REASONS),
        run=draw(TEXTS),
        valid_for=replace(pin.valid_for, engine=engine, gpu=draw(TEXTS), traffic=draw(TEXTS)),
    )


def words(pin: Pin, launcher: Launcher) -> list[str]:
    """What the engine is to be given."""
    return [word for flag in flags_of(pin, launcher) for word in (f"--{flag.name}", flag.value)]

"""Launchers and pins for the tests of merging, independent of those that attnpin brings."""

from __future__ import annotations

from dataclasses import replace

from reports.launchers.entries import Entry, Form, Place
from reports.launchers.launcher import Launcher
from store.pins.pin import Pin
from tests.reports import building

DECODE, PREFILL, PAGE = "decode-attention-backend", "prefill-attention-backend", "page-size"
FLAGS = ((DECODE, "flashinfer"), (PAGE, "64"))
WHY = "41 us against 58 us"


def pin(flags: tuple[tuple[str, str], ...] = FLAGS) -> Pin:
    """``flags`` none: a pin that says to set nothing."""
    holds = replace(building.pin().valid_for, page_size=1)
    return replace(building.pin(), run="r1", flags=flags, because=tuple((name, WHY) for name, _ in flags), valid_for=holds)


def launcher(form: Form = Form.KEYS, *at: str, entries: tuple[Entry, ...] | None = None) -> Launcher:
    words = {name: name for name in (DECODE, PREFILL, PAGE, "attention-backend", "kv-cache-dtype")}
    given = None if entries is None else lambda pin, launcher: entries
    return Launcher("ours", "sglang", ">=0.5", lambda pin, launcher: "", words, places=(Place(form, at),), entries=given)


def marked(value: str) -> str:
    """The comment above a key of ours."""
    return f"# attnpin r1 set {value}: {WHY}"

"""What outside of the server has to follow the flags that a pin sets: nobody there is told by the engine."""

from __future__ import annotations

from collections.abc import Iterator

from store.pins.pin import Pin

PAGE_SIZES = ("page-size", "block-size")  # SGLang's and vLLM's
KV_DTYPE = "kv-cache-dtype"


def must_follow(pin: Pin) -> Iterator[str]:
    """A sentence for each. SGLang's servers of one phase refuse those of the other where page size or KV dtype differ
    (sglang/srt/disaggregation/common/conn.py, 0.5.22)."""
    flags, settings = dict(pin.flags), dict(pin.valid_for.settings)
    page = next((flags[name] for name in PAGE_SIZES if name in flags), None)
    phases = "engine.role" in settings
    if page is not None:
        asked = settings.get("engine.page_size", page)
        instead = f", and not the {asked} that was asked for" if asked != page else ""
        peers = ", and the servers of the other phase, which have to have the same" if phases else ""
        yield (
            f"the page size is {page}{instead}: whatever assumes one outside of the server has to follow, "
            f"a router that counts cached prefixes in pages first (with another size it finds none){peers}"
        )
    if KV_DTYPE in flags and phases:
        yield f"the KV dtype is {flags[KV_DTYPE]}: the servers of the other phase have to have the same"

"""Device kernel names as a reader can take them in: without template arguments, each once, with how often it was launched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

MOST_NAMES = 6  # of one arm in one phase
LONGEST, LAST = 120, 30  # characters of a name, and of its end where the middle is left out


def short(name: str) -> str:
    """ "void ns::kernel<T, 128>(Params*)" -> "ns::kernel"; what a profiler cannot demangle, or a DSL made long, loses its middle, since
    variants differ at their ends."""
    bare = name.removeprefix("void ").replace("(anonymous namespace)::", "").partition("<")[0].partition("(")[0].strip()
    shown = bare or name
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - LAST - 3]}...{shown[-LAST:]}"


def launched(kernels: Sequence[str]) -> str:
    """ "3 x a, b, and 2 others": most launched first, ties in order of appearance."""
    counts = Counter(short(name) for name in kernels).most_common()
    shown = [name if count == 1 else f"{count} x {name}" for name, count in counts[:MOST_NAMES]]
    more = [f"and {len(counts) - MOST_NAMES} others"] if len(counts) > MOST_NAMES else []
    return ", ".join([*shown, *more])

"""The requests of a trace that the user names, to be sent in the place of the pin's distributions."""

from __future__ import annotations

from collections.abc import Sequence

from tuner.errors import UsageError
from tuner.settings import compose_trace
from tuner.traffic.requests import Requests

GROUP = "traffic."


def rows_given(overrides: Sequence[str]) -> Requests | None:
    """None where ``overrides`` are empty. Raises `UsageError` for others than those of a trace, and for a file that tells no requests."""
    foreign = next((each for each in overrides if not each.startswith(GROUP)), None)
    if foreign is not None:
        raise UsageError(f"confirm takes {GROUP}path=FILE and what belongs to it before CMD, and {foreign} is neither; leave it out")
    if not overrides:
        return None
    trace = compose_trace(("traffic=trace", *overrides))
    if trace is None or trace.requests is None:
        raise UsageError("a server's log tells its steps and no requests that could be sent again; give rows (docs/traffic.md)")
    return trace.requests

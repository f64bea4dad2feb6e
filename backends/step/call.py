"""What a part of a step shares with an arm's call where nothing has to be prepared: see `backends.driver.PreparedCall`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


class PlainCall:
    """The same launches in every step, which an engine replays."""

    graph = True
    resolved = "step"

    def plan(self) -> None:
        """Nothing changes from step to step."""

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is held beyond the call itself."""

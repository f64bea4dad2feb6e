"""Two processes that measure side by side on one device take turns there: whoever has not got it stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from backends.bench import Bench
    from backends.timing.lookout import Lookout


class Turns(Protocol):
    """``shared``: there is another process."""

    shared: bool

    def hand_over(self) -> None:
        """Leave the device, whose queue must be empty, to the other process; returns when it is this one's again."""


class Alone:
    """The device is this process's from beginning to end."""

    shared = False

    def hand_over(self) -> None:
        """To nobody."""


ALONE = Alone()


class Baton:
    """The device in the hands of a process that stands on it, with a lookout over it."""

    def __init__(self, turns: Turns, bench: Bench, lookout: Lookout) -> None:
        self._turns = turns
        self._bench = bench
        self._lookout = lookout

    @property
    def shared(self) -> bool:
        return self._turns.shared

    def hand_over(self) -> None:
        if self._turns.shared:
            self._bench.synchronize()
            self._turns.hand_over()
            self._lookout.resume()

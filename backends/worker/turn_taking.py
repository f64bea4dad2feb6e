"""The controller has the device go to and fro between this process and another one."""

from __future__ import annotations

from backends.worker.line import Line

TURN = "turn"


class TurnTaking:
    """A `backends.turns.Turns`. "turn" says that this process stands still; the controller's next line gives it the device."""

    shared = True

    def __init__(self, line: Line) -> None:
        self._line = line

    def hand_over(self) -> None:
        self._line.send(TURN)
        self._line.wait()

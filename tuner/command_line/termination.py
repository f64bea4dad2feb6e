"""SIGTERM (a scheduler, `timeout`) and SIGHUP (a closed terminal) end a command as Ctrl-C does: in order, saying how to go on."""

from __future__ import annotations

import signal
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """``number`` is the signal's. No `Exception`, so that nobody takes it for a failure of what was at work."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """As a shell reports it."""
        return 128 + self.number


def listen() -> None:
    """From here on either raises `Terminated`; what the caller had ignored (nohup) stays ignored."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)

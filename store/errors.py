"""What can go wrong between a command and its files. Each text is one sentence for the user.

StoreError                 exit 2: the user must supply something else
  Unreachable              the path or server cannot be opened
  NotADatabase             the file is something else, or damaged
  ReadOnly                 it cannot be written
  NewerSchema              a newer attnpin wrote it
  OlderSchema              an older one did, and it is to stay as it is
  UnknownRun               no run of that id
  EvidenceError, PinError  a committed file that is missing, cut short or changed
  ExchangeError            a file of exported runs that is, or that is none
  BrokenOff                exit 4: the run cannot go on
    DiskFull, DiskFault, Locked
    ServerGone             the server of an opened store does not answer any more
    AlreadyStored          another process stored the same thing first
    RunClosed              the run has ended meanwhile
"""

from __future__ import annotations


class StoreError(Exception):
    exit_code = 2


class Unreachable(StoreError):
    pass


class NotADatabase(StoreError):
    pass


class ReadOnly(StoreError):
    pass


class NewerSchema(StoreError):
    pass


class OlderSchema(StoreError):
    pass


class UnknownRun(StoreError):
    pass


class EvidenceError(StoreError):
    pass


class PinError(StoreError):
    pass


class ExchangeError(StoreError):
    pass


class BrokenOff(StoreError):
    exit_code = 4


class DiskFull(BrokenOff):
    pass


class DiskFault(BrokenOff):
    pass


class Locked(BrokenOff):
    pass


class ServerGone(BrokenOff):
    """``why``: in the driver's words."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(text)
        self.why = why


class AlreadyStored(BrokenOff):
    pass


class RunClosed(BrokenOff):
    pass

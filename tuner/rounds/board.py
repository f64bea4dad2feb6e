"""A session on another board of the type that a run is measured on: taken as the run's own was, and asked for one round at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace

from backends.environment import Environment
from backends.silence import SilenceLimits
from backends.simulated.world import World
from backends.wire import to_plain
from store.scenario import Engine
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.machine import device_key
from tuner.device.session import Session
from tuner.device.waiting import Wait, take_device
from tuner.errors import AttnpinError, MeasurementInvalid
from tuner.progress import Progress
from tuner.rounds.lent import Answer, Gone, Order
from tuner.rounds.measure import measure
from tuner.workers.failure import WorkerFailed


@dataclass(frozen=True)
class Terms:
    """What another board must offer to be measured on: all that ``home`` has, whose ``engine`` runs there with the worker's ``code``.
    ``ahead`` and ``patience`` as of a `Session`; ``owner`` is who takes the device."""

    home: Environment
    engine: Engine
    code: bytes | None
    ahead: bool
    owner: str
    patience: SilenceLimits


class OtherBoard:
    """``uuid`` is told once it was taken."""

    def __init__(self, session: Session, terms: Terms, uuid: str | None) -> None:
        self.uuid = uuid
        self._session = session
        self._terms = terms

    def measured(self, order: Order) -> Answer:
        self._session.expect(order.later, others=True)
        try:
            found = measure(self._session, order.message, order.stage, order.arms, self._hear)
        except WorkerFailed as failure:
            return failure
        except AttnpinError as error:
            return Gone(str(error))
        return replace(found, confirms=order.confirms, board=self.uuid)

    def kill(self) -> None:
        """From another thread."""
        self._session.kill()

    def _hear(self, event: dict[str, object]) -> None:
        if event["event"] == "progress" and not self._session.awaits_others(event):
            self._session.import_ahead()


@contextmanager
def other_board(terms: Terms, variables: Mapping[str, str], world: World | None = None) -> Iterator[OtherBoard]:
    """The first board that workers with ``variables`` see, or ``world``. Raises `MeasurementInvalid` where it is another kind, has other
    libraries, or is not free just now; nobody waits for it."""
    quiet = Progress(io.StringIO())
    host = Host(terms.engine, terms.code, world, variables, patience=terms.patience)
    with Session(host, quiet, PhaseClock(), terms.ahead) as session:
        there = session.keeper.facts(name for name, _ in terms.home.imports).environment
        if why := unlike(terms.home, there):
            raise MeasurementInvalid(why)
        take_device(session, device_key(there.board), terms.owner, Wait(0.0))
        yield OtherBoard(session, terms, there.board.uuid)


def unlike(home: Environment, there: Environment) -> str | None:
    """Why rounds of the two may not stand in one run; None where nothing but the boards' UUIDs tells them apart."""
    if home.board.uuid == there.board.uuid:
        return f"{there.board.name} is the board that the run has already"
    apart = [
        f"{name} is {getattr(theirs, name)!r:.60} there and {getattr(ours, name)!r:.60} here"
        for ours, theirs in ((home.board, there.board), (home, there))
        for name in (field.name for field in fields(ours))
        if name not in ("uuid", "board") and to_plain(getattr(ours, name)) != to_plain(getattr(theirs, name))
    ]
    return f"{there.board.name} is not alike: {apart[0]}" if apart else None

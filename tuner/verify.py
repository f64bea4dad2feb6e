"""Did a running server take a pin? The story of `attnpin verify`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from backends.simulated.world import is_simulated
from reports import wording
from store.pins.pin import Pin
from store.serving.verified import Start, Verified
from tuner.checking.edited import unedited
from tuner.engines import WITH_RULES
from tuner.engines.lookup import spoken_by
from tuner.engines.rules import Spoken
from tuner.errors import UsageError
from tuner.logs.files import STDIN, distinct, raw_lines
from tuner.logs.lines import Line, lines
from tuner.verifying.ask import ask
from tuner.verifying.expected import Expected, expected
from tuner.verifying.follow import RUNNING, Clock, follow
from tuner.verifying.judge import judged, nothing_said
from tuner.verifying.patience import WITHIN_S


@dataclass(frozen=True)
class Request:
    """``logs`` are files, one a server or more, or ``url`` is where it serves. ``follow``: look again until it has started, but no longer
    than ``within_s`` seconds."""

    pin: Path
    logs: tuple[str, ...] = ()
    url: str | None = None
    follow: bool = False
    within_s: float = WITHIN_S


def verify(request: Request, clock: Clock = RUNNING) -> Verified:
    """Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for one that was edited, a log or a server that is not
    there."""
    pin, run = unedited(request.pin)
    spoken, wanted = spoken_for(pin), expected(pin, run)
    if not request.follow:
        return _look(request, wanted, spoken)
    return follow(_again(request, wanted, spoken), request.within_s, clock)


def _again(request: Request, wanted: Expected, spoken: Spoken) -> Callable[[], Verified]:
    """Looks anew only where a log has grown; a server is asked each time."""
    seen: dict[tuple[int | None, ...], Verified] = {}

    def look() -> Verified:
        sizes = tuple(Path(log).stat().st_size if Path(log).exists() else None for log in request.logs)
        if not request.logs or sizes not in seen:
            found = _look(request, wanted, spoken)
            seen.clear()
            seen[sizes] = found
        return seen[sizes]

    return look


def spoken_for(pin: Pin) -> Spoken:
    """How servers that a pin is for are understood. Raises `UsageError` where there are none."""
    if is_simulated(pin.valid_for.gpu):
        raise UsageError(f"this pin was made on {pin.valid_for.gpu}, which no server runs on; tune on a real one")
    if pin.engine not in WITH_RULES:
        raise UsageError(f"pin {pin.run} is of engine {pin.engine!r}, whose words this attnpin does not know")
    return spoken_by(pin.engine)


def _look(request: Request, wanted: Expected, spoken: Spoken) -> Verified:
    engine = wanted.pin.engine
    if request.url is not None:
        return judged([ask(request.url, spoken, engine)], wanted)
    starts = [start for log in distinct(request.logs) for start in _starts(log, request, spoken, engine)]
    return judged(starts, wanted)


def _starts(log: str, request: Request, spoken: Spoken, engine: str) -> tuple[Start, ...]:
    found = spoken.starts(_lines(log, request.follow, spoken))
    return found or (unspoken(log, engine, lambda other: _lines(log, False, spoken_by(other))),)


def _lines(log: str, follow: bool, spoken: Spoken) -> Iterator[Line]:
    """Of a log that is followed the newest part alone, again and again."""
    return lines(raw_lines(log, rotated=not follow), log, spoken.WORDS)


def unspoken(log: str, engine: str, read: Callable[[str], Iterable[Line]]) -> Start:
    """Why nothing is known; named is the engine whose log it is, if it is another's. ``read`` gives those of its lines that an
    engine of that name may have written."""
    name = wording.engine(engine)
    for other in WITH_RULES if log != STDIN else ():
        if other != engine and any(start.settings for start in spoken_by(other).starts(read(other))):
            return replace(nothing_said(log), foreign=f"it is a log of {wording.engine(other)}, and the pin is {name}'s")
    return nothing_said(log, f"no line in which {name} says what it serves is in the log: give all of it, from the server's start")

"""What a start says it serves: by its log, as `attnpin verify` reads it, and by its own answer for the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from store.serving.verified import Standing, Start
from tuner.confirming.server import Place
from tuner.engines.lookup import spoken_by
from tuner.errors import UsageError
from tuner.logs.files import raw_lines
from tuner.logs.lines import lines
from tuner.verifying.ask import ask
from tuner.verifying.expected import Expected
from tuner.verifying.judge import judged, nothing_said

NOTHING = "nothing in its log tells what it serves"


def heard(log: Path, place: Place | None, engine: str) -> Start:
    """The newest start in ``log``; what serves at ``place`` (None = nothing does) is asked for its release, and for all where the log holds
    too little."""
    spoken = spoken_by(engine)
    starts = spoken.starts(lines(raw_lines(str(log), rotated=False), str(log), spoken.WORDS))
    found = starts[-1] if starts else nothing_said(log.name, NOTHING)
    if place is None:
        return found
    try:
        answer = ask(place.url, spoken, engine, place.key)
    except UsageError:
        return found
    return answer if found.missing and not answer.missing else replace(found, version=found.version or answer.version)


def fault_of(start: Start, expected: Expected, silent: bool) -> str | None:
    """Why it is not what was pinned. ``silent``: it is not expected to say all that it runs with."""
    verified = judged([start], expected)
    if verified.standing is Standing.AS_PINNED or (silent and verified.standing is Standing.UNKNOWN):
        return None
    return f"{verified.standing.value}: {verified.sentence}"

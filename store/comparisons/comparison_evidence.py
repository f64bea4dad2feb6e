"""A comparison in one small file: enough to report and to judge it again without the database.

As the evidence of a run (`store.evidence.run_evidence`): a header, what is said of the comparison itself, the records of its baseline and
of its candidate, and a last line that counts them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path

from backends.wire import to_plain
from store.comparisons.side_by_side import SIDES, SideBySide
from store.evidence.run_evidence import REDUCED, Record, fitting, packed, public, read_records, run_plain, run_records
from store.evidence.scrub import CUT, private_names, without_names, without_paths, without_places

COMPARISON_SCHEMA = 1
HEADER = "attnpin comparison"
OPTIONS = ("--baseline", "--candidate")
FOLDERS, SETTINGS = "path:", "with:"  # how environments that are folders, or settings, begin as they are written


def read_comparison(path: Path) -> SideBySide:
    """As `public_comparison` left it. Raises `EvidenceError`, or `NewerSchema`."""
    records = read_records(path, HEADER, COMPARISON_SCHEMA)
    itself = {each["record"]: each.get("value") for each in records if "side" not in each}
    sides = {side: run_plain(each for each in records if each.get("side") == side) for side in SIDES}
    return fitting(path.name, SideBySide, {**itself, **sides})


def comparison_bytes(measured: SideBySide) -> bytes:
    """The same bytes for the same comparison."""
    shown = public_comparison(measured)
    header = {"record": HEADER, "schema": COMPARISON_SCHEMA, "tool_version": measured.baseline.tool_version, "reduced": REDUCED}
    return packed(header, _records(shown))


def public_comparison(measured: SideBySide) -> SideBySide:
    """What of it may be committed. An environment that was named by a place is named by the versions that set it apart."""
    names = private_names(measured.baseline.scenario.engine) | private_names(measured.candidate.scenario.engine)
    old, new = (without_names(_named(*each), names) for each in zip(measured.said, _versions_apart(measured)))
    said = (old, new)
    command = without_names(_command(measured, said), names)
    baseline, candidate = (replace(public(run), command=command) for run in (measured.baseline, measured.candidate))
    return replace(measured, command=command, said=said, baseline=baseline, candidate=candidate)


def _records(measured: SideBySide) -> Iterator[Record]:
    itself = ((field.name, getattr(measured, field.name)) for field in fields(measured) if field.name not in SIDES)
    yield from ({"record": name, "value": to_plain(value)} for name, value in itself)
    for side in SIDES:
        yield from ({**record, "side": side} for record in run_records(getattr(measured, side)))


def _named(said: str, versions: str) -> str:
    """ "path:/opt/flashinfer" -> "flashinfer-python==0.6.1", and so for a command; what names no place stays."""
    if said.startswith(SETTINGS):
        return SETTINGS + without_places(said.removeprefix(SETTINGS))
    if not (said.startswith(FOLDERS) or "/" in said or " " in said):
        return without_paths(said)
    words = said.split()
    return versions or without_paths(words[0] if len(words) == 1 else f"{words[0]} {CUT} {words[-1]}")


def _versions_apart(measured: SideBySide) -> tuple[str, str]:
    """As environments are written: distributions that are not the same on both sides."""
    sides = [{each.name: each for each in run.environment.distributions} for run in (measured.baseline, measured.candidate)]
    names = [name for name in dict.fromkeys((*sides[0], *sides[1])) if sides[0].get(name) != sides[1].get(name)]
    old, new = (",".join(f"{name}=={side[name].version}" for name in names if name in side) for side in sides)
    return old, new


def _command(measured: SideBySide, said: Iterable[str]) -> str:
    """With the environments as ``said``, and other places as words in capitals."""
    try:
        words = shlex.split(measured.command)
    except ValueError:  # an unbalanced quote: nothing to take apart
        return without_paths(measured.command)
    for option, before, after in zip(OPTIONS, measured.said, said):
        words = [after if word == before and words[index - 1] == option else word for index, word in enumerate(words)]
        words = [f"{option}={after}" if word == f"{option}={before}" else word for word in words]
    return without_places(shlex.join(words))

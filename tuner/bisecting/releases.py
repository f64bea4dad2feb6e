"""The releases between a good and a bad one, and how each becomes an environment. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from tuner.comparing.env import FOLDERS, Env, env_of
from tuner.doctor.versions import parsed
from tuner.errors import UsageError


@dataclass(frozen=True)
class Asked:
    """``releases``: "0.6.1", or "0.6.1=DIR[:DIR]" where it lies unpacked; () = those that are offered. ``wheels``: a folder to take
    them from, where the worker runs. ``pre``: pre-releases too, not just those that are named."""

    distribution: str
    good: str
    bad: str
    until_good: str | None = None
    releases: tuple[str, ...] = ()
    wheels: str | None = None
    pre: bool = False


@dataclass(frozen=True)
class Line:
    """``releases`` in order: from the good one to the bad one, and on to the one that is good again."""

    asked: Asked
    releases: tuple[str, ...]
    folders: Mapping[str, str] = field(default_factory=dict)

    @property
    def to_bad(self) -> tuple[str, ...]:
        return self.releases[: self.releases.index(self.asked.bad) + 1]

    @property
    def from_bad(self) -> tuple[str, ...]:
        return self.releases[self.releases.index(self.asked.bad) :]

    def env(self, release: str) -> Env:
        """Its folders before all others, or it laid over what is installed."""
        folders = self.folders.get(release)
        return env_of(f"{self.asked.distribution}=={release}" if folders is None else f"{FOLDERS}{folders}")


def line_of(asked: Asked, offered: Iterable[str]) -> Line:
    """``offered``: what there is, where ``asked`` names no releases. Raises `UsageError` for what cannot be put in a row."""
    ends = tuple(each for each in (asked.good, asked.bad, asked.until_good) if each is not None)
    refuse_disorder(ends)
    folders = dict(_folders(asked.releases))
    named = [each.partition("=")[0] for each in asked.releases]
    known = {version: each for each in (named or offered) if (version := parsed(each)) is not None and not _left_out(version, asked, ends)}
    if not named:
        refuse_unknown(asked, ends, known)
    known |= {Version(end): end for end in ends}  # as they were written
    inside = sorted(version for version in known if Version(ends[0]) <= version <= Version(ends[-1]))
    return Line(asked, tuple(known[version] for version in inside), folders)


def _left_out(version: Version, asked: Asked, ends: Sequence[str]) -> bool:
    return version.is_prerelease and not asked.pre and not asked.releases and version not in map(Version, ends)


def refuse_disorder(ends: Sequence[str]) -> None:
    """``ends``: good, bad, and good again where that is asked for."""
    for end in ends:
        if parsed(end) is None:
            raise UsageError(f"{end!r} is no version; write one as pip does, such as 0.6.4")
    for earlier, later in zip(ends, ends[1:]):
        if not Version(earlier) < Version(later):
            raise UsageError(f"{later} does not come after {earlier}; give GOOD, BAD and --until-good from old to new")


def refuse_unknown(asked: Asked, ends: Iterable[str], known: Mapping[Version, str]) -> None:
    for end in ends:
        if Version(end) not in known:
            where = f"in {asked.wheels}" if asked.wheels else "in the index"
            raise UsageError(f"there is no {asked.distribution} {end} {where}; {_nearest(Version(end), known)}")


def _nearest(version: Version, known: Mapping[Version, str]) -> str:
    before, after = [each for each in known if each < version], [each for each in known if each > version]
    names = [known[each] for each in (*sorted(before)[-1:], *sorted(after)[:1])]
    return f"the nearest to it: {' and '.join(names)}" if names else "there is no release of it at all"


def in_files(names: Iterable[str], distribution: str) -> tuple[str, ...]:
    """The versions of ``distribution`` that wheels and source archives of such ``names`` hold."""
    found = (_held(name) for name in names)
    wanted = canonicalize_name(distribution)
    return tuple(dict.fromkeys(str(version) for held in found if held for name, version in [held] if name == wanted))


def _held(name: str) -> tuple[str, Version] | None:
    try:
        return parse_wheel_filename(name)[:2] if name.endswith(".whl") else parse_sdist_filename(name)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def _folders(releases: Iterable[str]) -> Iterator[tuple[str, str]]:
    for each in releases:
        release, says, folder = each.partition("=")
        if parsed(release) is None or (says and not folder):
            raise UsageError(f"--releases {each} names no release; write versions such as 0.6.1, or 0.6.1=DIR for an unpacked one")
        if says:
            yield release, folder

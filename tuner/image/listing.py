"""What is installed in an image, as a list of its packages tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from posixpath import basename
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_sdist_filename, parse_wheel_filename

from tuner.doctor.versions import parsed


@dataclass(frozen=True)
class Listed:
    """One distribution, by its normalised name. ``versions``: more than one where several copies are listed, () = none is told.
    ``origin``: the folder or repository it was installed from, None = a released file, as far as the list tells. ``requires``: its
    Requires-Dist entries as written, where the list has them."""

    name: str
    versions: tuple[str, ...]
    origin: str | None = None
    requires: tuple[str, ...] = ()

    @property
    def version(self) -> str | None:
        """None where the list tells none, or several."""
        return self.versions[0] if len(self.versions) == 1 else None

    @property
    def written(self) -> str:
        """ "0.6.14", "0.6.13 and 0.6.14, listed twice", "0.5.16, from a folder"."""
        versions = " and ".join(self.versions) + (", listed twice" if len(self.versions) > 1 else "")
        return ", ".join(part for part in (versions, self.origin and f"from {self.origin}") if part) or "without a version"

    def is_release(self, version: str) -> bool:
        """Whether this is the release ``version``, local tag and all, and surely so."""
        if self.origin is not None or self.version is None:
            return False
        mine, theirs = parsed(self.version), parsed(version)
        return mine == theirs if mine and theirs else self.version == version


@dataclass(frozen=True)
class Listing:
    """``form`` is the format it was read from; ``python`` None = the list does not say. ``unnamed``: folders that something was installed
    from, and the list does not say what."""

    form: str
    found: tuple[Listed, ...]
    python: str | None = None
    unnamed: tuple[str, ...] = ()

    def of(self, name: str) -> Listed | None:
        return next((each for each in self.found if each.name == name), None)


def listed(name: str, version: str | None, url: str | None = None, requires: Iterable[str] = (), commit: str | None = None) -> Listed:
    """``url`` as in PEP 610: that of a wheel or source archive is a release, of which it may tell the version. Raises `TypeError` for
    what is no text: entries of a file come here unchecked."""
    if not all(isinstance(text, str) for text in (name, version or "", url or "", commit or "", *requires)):
        raise TypeError(f"{name!r}, {version!r}")
    version = version or (None if url is None else version_in(url))
    origin = None if url is None or version_in(url) else _origin(url, commit)
    return Listed(canonicalize_name(name), (version,) if version else (), origin, tuple(requires))


def merged(found: Iterable[Listed]) -> tuple[Listed, ...]:
    """Each name once, with every version that was listed."""
    by_name: dict[str, Listed] = {}
    for each in found:
        before = by_name.get(each.name, each)
        versions = tuple(dict.fromkeys((*before.versions, *each.versions)))
        by_name[each.name] = replace(before, versions=versions, origin=before.origin or each.origin)
    return tuple(by_name.values())


def version_in(url: str) -> str | None:
    """The version that the name of a wheel or source archive tells; None for a folder or a repository."""
    name = unquote(basename(urlsplit(url).path))
    for parse in (parse_wheel_filename, parse_sdist_filename):
        try:
            return str(parse(name)[1])
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
    return None


def _origin(url: str, commit: str | None) -> str:
    """ "a folder", or the repository and commit, without what may be a password before its host."""
    parts = urlsplit(url)
    if parts.scheme in ("", "file"):
        return "a folder"
    place, _, revision = parts.path.partition("@")
    found = commit or revision
    return f"{parts.hostname or ''}{place.removesuffix('.git')}" + (f" at {found[:12]}" if found else "")

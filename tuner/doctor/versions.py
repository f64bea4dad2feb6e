"""Versions as PEP 440 orders them, and the CUDA or torch that a local tag names ("0.6.14+cu130")."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version


def parsed(version: str) -> Version | None:
    """None for what is no version, such as a source tree's."""
    try:
        return Version(version)
    except InvalidVersion:
        return None


def same_release(one: str, other: str) -> bool:
    """Equal but for local tags: "0.6.14+cu130" is "0.6.14", and "0.6.1" is not."""
    first, second = parsed(one), parsed(other)
    return first.public == second.public if first and second else one == other


def within(version: str, versions: str) -> bool:
    """Pre-releases count, and a local tag only where ``versions`` has one. What is no version is within nothing."""
    found = parsed(version)
    return found is not None and SpecifierSet(versions).contains(found, prereleases=True)


def cuda_of(version: str) -> str | None:
    """ "13.0" of "+cu130", "12" of "+cu12torch2.6"; None without such a tag."""
    tag = re.search(r"(?:^|\.)cu(\d\d)(\d?)", _local(version))
    return None if tag is None else f"{tag[1]}.{tag[2]}" if tag[2] else tag[1]


def torch_of(version: str) -> str | None:
    """ "2.6" of "+cu12torch2.6cxx11abifalse"."""
    tag = re.search(r"torch(\d+\.\d+)", _local(version))
    return None if tag is None else tag[1]


def same_cuda(one: str, other: str) -> bool:
    """As far as both tell: "12" is every 12."""
    return all(mine == theirs for mine, theirs in zip(one.split("."), other.split(".")))


def numbers(version: str) -> tuple[int, ...]:
    """ "12.9" as (12, 9), to be put in order."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _local(version: str) -> str:
    return version.partition("+")[2].lower()

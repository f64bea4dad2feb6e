"""Package URLs, by which an SBOM says what is a Python distribution: "pkg:pypi/torch@2.11.0%2Bcu130"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote

from tuner.image.listing import Listed, listed

PYPI = re.compile(r"pkg:pypi/(?P<name>[^/@?#]+)(?:@(?P<version>[^?#]+))?(?:\?(?P<qualifiers>[^#]*))?(?:#.*)?", re.IGNORECASE)


def distributions(purl: object, version: object = None) -> Iterator[Listed]:
    """What ``purl`` names, if that is a Python distribution; ``version`` stands where it has none of its own."""
    match = PYPI.fullmatch(purl) if isinstance(purl, str) else None
    if match is None:
        return
    own = unquote(match["version"]) if match["version"] else version
    (repository,) = parse_qs(match["qualifiers"] or "").get("vcs_url", [None])[:1]
    yield listed(unquote(match["name"]), own if isinstance(own, str) and own.strip() else None, repository)

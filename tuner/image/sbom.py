"""Software bills of materials as JSON. They name Python distributions by package URL, and leave out how each was installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tuner.image.listing import Listed, Listing, merged
from tuner.image.purl import distributions

PACKAGE_URL = "purl"


def is_cyclonedx(plain: dict[str, Any]) -> bool:
    return plain.get("bomFormat") == "CycloneDX"


def read_cyclonedx(plain: dict[str, Any]) -> Listing:
    """Components at any depth, and the one that the document is about. Source: cyclonedx.org/docs/1.6/json."""
    about = (plain.get("metadata") or {}).get("component")
    roots = [*([about] if about else []), *(plain.get("components") or [])]
    return Listing("a CycloneDX SBOM", merged(each for root in roots for each in _components(root)))


def _components(root: dict[str, Any]) -> Iterator[Listed]:
    waiting = [root]
    while waiting:
        component = waiting.pop()
        yield from distributions(component.get(PACKAGE_URL), component.get("version"))
        waiting += component.get("components") or []


def is_spdx(plain: dict[str, Any]) -> bool:
    return "spdxVersion" in plain or ("@graph" in plain and "spdx.org" in str(plain.get("@context")))


def read_spdx(plain: dict[str, Any]) -> Listing:
    """SPDX 2 (packages with external references) or 3 (a graph of elements). Source: spdx.github.io/spdx-spec."""
    found = _of_graph(plain["@graph"]) if "@graph" in plain else _of_packages(plain.get("packages") or [])
    return Listing("an SPDX SBOM", merged(found))


def _of_packages(packages: list[dict[str, Any]]) -> Iterator[Listed]:
    for package in packages:
        for reference in package.get("externalRefs") or []:
            if reference.get("referenceType") == PACKAGE_URL:
                yield from distributions(reference.get("referenceLocator"), package.get("versionInfo"))


def _of_graph(graph: list[dict[str, Any]]) -> Iterator[Listed]:
    for element in graph:
        version = element.get("software_packageVersion")
        yield from distributions(element.get("software_packageUrl"), version)
        for identifier in element.get("externalIdentifier") or []:
            if identifier.get("externalIdentifierType") == "packageUrl" and "software_packageUrl" not in element:
                yield from distributions(identifier.get("identifier"), version)

"""Lists of packages as the tools write them, for the tests of whatever reads one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

Versions = Mapping[str, str]


def freeze(versions: Versions) -> str:
    return "".join(f"{name}=={version}\n" for name, version in versions.items())


def inspected(versions: Versions, python: str = "3.12.3", **direct: Any) -> str:
    """``direct``: the direct_url of a distribution, with "_" for "-" in its name."""
    installed = [
        {"metadata": {"name": name, "version": version}, "installer": "pip", "requested": True} for name, version in versions.items()
    ]
    for entry in installed:
        if (url := direct.get(str(entry["metadata"]["name"]).replace("-", "_"))) is not None:  # type: ignore[index]
            entry["direct_url"] = url
    environment = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    return json.dumps({"version": "1", "pip_version": "25.0", "installed": installed, "environment": environment})


def purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name.lower().replace('_', '-')}@{quote(version, safe='')}"


def cyclonedx(versions: Versions) -> str:
    """As a scanner of images writes it: system packages beside, Python's inside a component of the layer."""
    python = [{"type": "library", "name": name, "version": version, "purl": purl(name, version)} for name, version in versions.items()]
    system = {"type": "library", "name": "zlib1g", "version": "1:1.2.13", "purl": "pkg:deb/debian/zlib1g@1%3A1.2.13"}
    layer = {"type": "container", "name": "layer", "components": python}
    about = {"component": {"type": "container", "name": "image", "version": "1"}}
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": about, "components": [system, layer]})


def spdx(versions: Versions) -> str:
    def package(name: str, version: str) -> dict[str, Any]:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(name, version)}
        return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "externalRefs": [reference]}

    base = {"SPDXID": "SPDXRef-base", "name": "base-files", "versionInfo": "12"}
    return json.dumps({"spdxVersion": "SPDX-2.3", "packages": [base, *(package(*pair) for pair in versions.items())]})


def spdx_3(versions: Versions) -> str:
    graph = [
        {"type": "software_Package", "name": name, "software_packageVersion": version, "software_packageUrl": purl(name, version)}
        for name, version in versions.items()
    ]
    return json.dumps({"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [{"type": "SpdxDocument"}, *graph]})


FORMS: dict[str, Callable[[Versions], str]] = {
    "pip freeze": freeze,
    "pip inspect": inspected,
    "a CycloneDX SBOM": cyclonedx,
    "an SPDX SBOM": spdx,
    "an SPDX SBOM, version 3": spdx_3,
}

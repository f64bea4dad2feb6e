"""What `pip inspect` prints."""

from __future__ import annotations

from typing import Any

from tuner.image.listing import Listed, Listing, listed, merged


def is_inspected(plain: dict[str, Any]) -> bool:
    return "pip_version" in plain and "installed" in plain


def read_inspected(plain: dict[str, Any]) -> Listing:
    """Source: pip.pypa.io/en/stable/reference/inspect-report, version 1."""
    python = (plain.get("environment") or {}).get("python_full_version")
    return Listing("pip inspect", merged(map(_installed, plain["installed"])), python=python)


def _installed(entry: dict[str, Any]) -> Listed:
    metadata, direct = entry["metadata"], entry.get("direct_url") or {}
    commit = (direct.get("vcs_info") or {}).get("commit_id")
    return listed(metadata["name"], metadata["version"], direct.get("url"), metadata.get("requires_dist") or (), commit)

"""What PostgreSQL reports, in one sentence of ours, by the classes of its codes (postgresql.org/docs/current/errcodes-appendix.html)."""

from __future__ import annotations

from store.errors import DiskFault, DiskFull, Locked, NotADatabase, ReadOnly, ServerGone, StoreError, Unreachable

AGAIN = "run the same command again, it continues where it was"
ROLES = "docs/a-shared-database.md says what a role needs"

FAULTS: dict[str, tuple[type[StoreError], str]] = {
    "53100": (DiskFull, f"has no room left on its disk; free some and {AGAIN}"),
    "58": (DiskFault, f"could not be read or written by its server; look into the server's log, then {AGAIN}"),
    "XX": (NotADatabase, "is damaged; look into the server's log and restore a copy, or set store.url to another database"),
    "25006": (ReadOnly, "takes no writes (a standby server?); set store.url to one that does"),
    "42501": (ReadOnly, f"may not be used so by this role; {ROLES}"),
    "55P03": (Locked, "is held by another process for too long; end that one and run the same command again"),
    "28": (Unreachable, "refuses this role or its password; check store.url"),
    "3D": (Unreachable, "is not there; make it with createdb, or check store.url"),
    "3F": (Unreachable, "has no schema of the name in store.url; make it with CREATE SCHEMA"),
}
# The connection broke, the server stops or starts, all its connections are taken, it chose another transaction over this one.
PASSING = ("08", "57P", "53300", "25P03", "25P04", "40")


def postgresql_fault(url: str, error: Exception) -> StoreError | None:
    """None = a fault of ours (a wrong statement), not of the place."""
    code = str(getattr(error, "sqlstate", None) or "")
    why = (str(error).strip() or type(error).__name__).splitlines()[0]
    found = next((fault for start, fault in FAULTS.items() if code.startswith(start)), None)
    if found is not None:
        kind, text = found
        return kind(f"store {url} {text} ({why})")
    if code.startswith(PASSING) or (not code and type(error).__name__ == "OperationalError"):
        return ServerGone(f"store {url} cannot be used any more ({why}); when its server is back, {AGAIN}", why)
    return None

"""A rule's recorded reason beside what is installed where the arms run."""

from __future__ import annotations

from collections.abc import Mapping

from store.engines.recorded_reason import ReasonHere, RecordedReason


def reason_here(reason: RecordedReason | None, sm: int | None, packages: Mapping[str, str] | None) -> ReasonHere | None:
    """None where nothing was recorded for this compute capability. ``packages``: import names with versions, None = nobody looked."""
    if reason is None or sm not in reason.test.sm:
        return None
    installed = (packages or {}).get(reason.package or "") or None
    return ReasonHere(reason, installed, affected(reason, installed))


def affected(reason: RecordedReason, installed: str | None) -> bool | None:
    """Whether ``installed`` lies in the releases with the recorded fault; None where one of them is not known."""
    if installed is None or (reason.first_bad is None and reason.first_good is None):
        return None
    from tuner.doctor.versions import parsed, within  # a plan without a worker asks for no version, and need not wait for this

    if parsed(installed) is None:
        return None
    ends = ((">=", reason.first_bad), ("<", reason.first_good))
    return within(installed, ",".join(f"{sign}{release}" for sign, release in ends if release is not None))

"""How many launches a sample and how many samples a visit, from how long one call takes."""

from __future__ import annotations

from dataclasses import dataclass

from backends.spec import TimingSpec

MAX_LAUNCHES = 1024  # in one graph
MAX_EAGER_LAUNCHES = 64  # all of them wait in the device's queue while it is held back
AHEAD = 1.5  # times the time that queueing takes, for which the device is held back
SHORT_US, LONG_US = 2_000.0, 20_000.0  # between these one rotation is a sample; longer calls are cold by their own size
LONG_REPLAYS = 3
VISIT_S = 0.5
ROWS, ROWS_US, LEAST_IN_ROWS = 8, 40_000.0, 32  # rows of eager launches a visit; what they last, and hold, in all
MOST_ROWS_US = 90_000.0


@dataclass(frozen=True)
class Pace:
    """``launches`` a sample, ``replays`` samples a visit, ``discards`` samples thrown away before them."""

    launches: int
    replays: int
    discards: int


def graph_pace(call_us: float, slots: int, timing: TimingSpec, least: int = 1) -> Pace:
    """Launches in a graph: a multiple of ``slots``, so that every replay rotates over all pools, about ``replay_ms`` long and
    ``least`` at least."""
    if call_us > LONG_US:
        return _pace(call_us, least, timing)
    rotations = 1 if call_us >= SHORT_US else round(timing.replay_ms * 1e3 / (call_us * slots))
    return _pace(call_us, slots * max(1, -(-least // slots), min(rotations, MAX_LAUNCHES // slots)), timing)


def eager_pace(call_us: float, timing: TimingSpec, least: int = 1, issue_us: float = 0.0) -> Pace:
    """Launches of an eager sample: about ``replay_ms`` of them, ``least`` at least. Rotation runs on from sample to sample.
    Queueing one takes the host ``issue_us``; a call whose own time is shorter is launched as often as can be queued in that time.
    """
    launches = max(least, min(round(timing.replay_ms * 1e3 / max(call_us, issue_us)), MAX_EAGER_LAUNCHES))
    return _pace(call_us, launches, timing, AHEAD * issue_us)


def row_pace(call_us: float, least: int = 1) -> Pace:
    """Rows of eager launches as a server issues them: `ROWS` of them and one to discard, `ROWS_US` and `LEAST_IN_ROWS` launches or
    more, of which ``call_us`` apart the host issues one or the device finishes one; fewer where they would take over `MOST_ROWS_US`.
    """
    affordable = int(MOST_ROWS_US / call_us)
    wanted = min(max(LEAST_IN_ROWS / ROWS, ROWS_US / ROWS / call_us), MAX_LAUNCHES, affordable / (ROWS + 1))
    launches = max(1, round(wanted / least)) * least
    rows = affordable // launches
    return Pace(launches, max(1, min(ROWS, rows - 1)), 1 if rows > 1 else 0)


def _pace(call_us: float, launches: int, timing: TimingSpec, held_us: float = 0.0) -> Pace:
    """A visit discards ``discard_ms``, at least one sample, and stays within VISIT_S: long calls are sampled less often,
    and one that alone takes the better part of it neither repeats nor discards. ``held_us`` a launch pass before it begins."""
    sample_s = (call_us + held_us) * launches * 1e-6
    replays = min(timing.replays, LONG_REPLAYS) if call_us > LONG_US else timing.replays
    discards = max(1, round(timing.discard_ms * 1e-3 / sample_s))
    affordable = int(VISIT_S / sample_s)
    if replays + discards > affordable:
        discards = 1 if affordable >= 2 else 0
        replays = max(1, min(replays, affordable - discards))
    return Pace(launches, replays, discards)


def rotation(launches: int, slots: int) -> list[int]:
    """The slot of each launch of a graph: round the slots in order, every round ending on the last one. Rounds are as even as can be:
    a short one would find what it reads in the cache, left there by the replay before."""
    rounds = -(-launches // slots)
    lengths = [launches // rounds + (number < launches % rounds) for number in range(rounds)]
    return [slot for length in lengths for slot in range(slots - length, slots)]

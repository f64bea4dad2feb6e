"""For a day, what probes found in a calibration holds of the next one of the very same question: which kernels run, that they answer
right, and how far their times hang on how they are timed. Every process of a race checks its arms' answers and kernels again anyway."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from store.database.connect import Store
from store.runs.repository import finished_run, load_run
from store.runs.run import Run
from tuner.racing.sieve import measured_trials

LIFE = timedelta(days=1)


def with_earlier_probes(store: Store, run: Run, now: datetime) -> Run:
    """``run``, which is to begin, with what its arms were found to be in the newest run of its digest, and a note of that; as it is where
    there is none, or where its probes are older than `LIFE`. The digest has the board, its driver and limits, and all versions."""
    probed = _probed_run(store, run.digest)
    if probed is None or now - datetime.fromisoformat(probed.created) > LIFE:
        return run
    originals = {arm.name for arm in run.arms if arm.is_original}
    found = (trial for trial in measured_trials(probed.trials).values() if trial.arm in originals)
    taken = tuple(replace(trial, probed_in=probed.id) for trial in found)
    note = f"not probed again: run {probed.id} of {probed.created} asked the same of this board and these versions within a day"
    return replace(run, trials=taken, notes=(*run.notes, note)) if taken else run


def _probed_run(store: Store, digest: str) -> Run | None:
    """The newest finished one of ``digest``, or the one that it has its trials from: what is handed on grows no younger."""
    newest = finished_run(store, digest)
    origin = None if newest is None else next((trial.probed_in for trial in newest.trials if trial.probed_in is not None), None)
    return newest if origin is None else load_run(store, origin)

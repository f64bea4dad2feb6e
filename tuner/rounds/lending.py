"""Which boards are lent to the rounds of a run: what the executor has, once neighbours are known or said to do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from backends.environment import Environment
from store.database.connect import Store
from tuner.calibrating.calibrated import neighbours_are_harmless
from tuner.device.session import Session
from tuner.device.worker_code import worker_code
from tuner.executors.place import Place
from tuner.rounds.board import Terms, other_board
from tuner.rounds.here import Open, lent_here
from tuner.rounds.lent import Lend, Lent, nobody
from tuner.settings import Settings


def lending(settings: Settings, store: Store, session: Session, environment: Environment, owner: str) -> Lend:
    """For a run on ``environment``'s board, which ``session`` holds."""
    place = settings.executor
    terms = terms_of(settings, environment, owner)
    if place.kind == "ray":
        return partial(_others_on_ray, settings, session, terms) if place.spread else nobody
    alone = place.exclusive_host and not neighbours_are_harmless(store, environment.board)
    if place.device is not None or alone:
        return nobody
    return partial(_others_here, settings, session, terms)


def terms_of(settings: Settings, environment: Environment, owner: str) -> Terms:
    scenario = settings.scenario
    return Terms(environment, scenario.engine, worker_code(settings), scenario.measure.import_ahead, owner, settings.patience)


@contextmanager
def _others_here(settings: Settings, session: Session, terms: Terms) -> Iterator[Lent]:
    with lent_here(others_here(settings, session, terms), session.progress.note) as lent:
        _say(lent, session)
        if lent.places and settings.executor.numa and settings.world is None and terms.home.board.uuid:
            session.keep_near(terms.home.board.uuid)
        yield lent


@contextmanager
def _others_on_ray(settings: Settings, session: Session, terms: Terms) -> Iterator[Lent]:
    """Of the cluster that this job runs in."""
    from tuner.executors.ray_cluster import connected
    from tuner.rounds.on_ray import lent_on_ray

    most = settings.scenario.measure.processes - 1
    most = most if settings.world is None else min(most, len(settings.other_worlds))
    with lent_on_ray(connected(settings.executor, settings.store_url), terms, most, settings.other_worlds) as lent:
        _say(lent, session)
        yield lent


def _say(lent: Lent, session: Session) -> None:
    if lent.places:
        session.progress.note(f"rounds are measured on {lent.places + 1} boards at once")


def others_here(settings: Settings, session: Session, terms: Terms) -> Iterator[Open]:
    """The visible GPUs of this machine but the one that ``session`` measures on."""
    if settings.world is not None:
        yield from (other_board(terms, {}, world) for world in settings.other_worlds)
        return
    for uuid in session.keeper.devices():
        if uuid != terms.home.board.uuid:
            yield other_board(terms, Place(device=uuid, numa=settings.executor.numa).variables)

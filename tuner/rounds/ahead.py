"""The rounds of a race on its own board and on those lent to it: each is handed out once, and comes back at its turn."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.measured import Round
from backends.outcome import Outcome
from store.runs.run import Run
from tuner.job import Job
from tuner.racing.beside import at_its_turn, beside
from tuner.racing.next_round import NextRound
from tuner.rounds.doubt import Doubt, doubt_of
from tuner.rounds.lent import Answer, Gone, Lent, Order
from tuner.workers.failure import WorkerFailed

ELSEWHERE = "other boards"  # a phase of the wall time
Here = Callable[[Job, Run, NextRound], Round]
Ordered = Callable[[Job, Run, NextRound], Order]
Owed = tuple[NextRound, ...]


@dataclass(frozen=True)
class Begun:
    """A round that the lent board ``place`` is at; ``confirms`` as that of its `NextRound`."""

    place: int
    confirms: bool
    answer: Future[Answer]


class RoundsAhead:
    """Round i is of board i modulo their number, so that each has as many; the run's own is number 0. Whatever a lent board does not
    bring, the run's own measures. An arm that fails on a lent board is tried there too, so that a bad board costs no arm; for several
    ranks it fails at once, since their server runs on each of the boards.

    ``here`` measures a round on the run's own board, ``ordered`` says how another is asked for it.
    """

    def __init__(self, job: Job, lent: Lent, here: Here, ordered: Ordered) -> None:
        self._job, self._lent, self._here, self._ordered = job, lent, here, ordered
        self._done: dict[int, Round | WorkerFailed] = {}
        self._begun: dict[int, Begun] = {}
        self._needless: list[Begun] = []
        self._doubts: dict[int, Doubt] = {}
        self._gone: set[int] = set()

    def measured(self, run: Run, coming: NextRound) -> Round:
        """What ``coming`` came to. Raises `WorkerFailed` where an arm of it failed, or nobody is to blame."""
        owed = (coming, *beside(run, coming, self._job.everyone))
        self._set_aside(owed)
        while True:
            self._collect(run)
            self._hand_out(run, owed)
            if (found := self._at_its_turn(coming)) is not None:
                return found
            if (mine := self._next_here(coming, owed)) is not None:
                self._measure_here(run, mine, owed)
            elif coming.index in self._begun:
                self._await(coming)

    def _set_aside(self, owed: Owed) -> None:
        """What was begun for a purpose that is none any more: its board is busy with it."""
        purposes = {each.index: each.confirms for each in owed}
        for index, begun in list(self._begun.items()):
            if purposes.get(index, begun.confirms) != begun.confirms:
                self._needless.append(self._begun.pop(index))

    def _place(self, index: int) -> int | None:
        """Of the lent board whose round it is; None = the run's own."""
        board = index % (self._lent.places + 1)
        return None if board == 0 or board - 1 in self._gone or index in self._doubts else board - 1

    def _hand_out(self, run: Run, owed: Owed) -> None:
        busy = {begun.place for begun in (*self._begun.values(), *self._needless) if not begun.answer.done()}
        busy |= {doubt.place for doubt in self._doubts.values()}
        for each in owed:
            place = self._place(each.index)
            if place is not None and place not in busy and self._is_open(each):
                order = replace(self._ordered(self._job, run, each), later=self._later(each, owed))
                self._begun[each.index] = Begun(place, each.confirms, self._lent.begin(place, order))
                busy.add(place)

    def _is_open(self, one: NextRound) -> bool:
        return one.index not in self._begun and one.index not in self._done

    def _later(self, one: NextRound, owed: Owed) -> tuple[tuple[Arm, ...], ...]:
        """The arms of the rounds after it on the same board."""
        return tuple(each.arms for each in owed if each.index > one.index and self._place(each.index) == self._place(one.index))

    def _collect(self, run: Run) -> None:
        for index, begun in list(self._begun.items()):
            if begun.answer.done():
                del self._begun[index]
                self._take(run, index, begun)

    def _take(self, run: Run, index: int, begun: Begun) -> None:
        answer = begun.answer.result()
        if isinstance(answer, Gone):
            self._leave(begun.place, answer.why)
        elif doubt := doubt_of(answer, begun.place, run.scenario.engine):
            self._doubts[index] = doubt
            self._job.session.progress.note(f"round {index + 1} broke off on another board ({answer}); it is run again on the run's own")
        else:
            self._done[index] = answer

    def _leave(self, place: int, why: str) -> None:
        if place not in self._gone:
            self._gone.add(place)
            self._job.session.progress.note(f"a board beside this one measures no more: {why}")

    def _at_its_turn(self, coming: NextRound) -> Round | None:
        found = self._done.pop(coming.index, None)
        if isinstance(found, WorkerFailed):
            if found.outcome is Outcome.INTERRUPTED or found.arm in (None, *(arm.name for arm in coming.arms)):
                raise found
            return None  # the fault of an arm that has left meanwhile
        return None if found is None else at_its_turn(found, coming)

    def _next_here(self, coming: NextRound, owed: Owed) -> NextRound | None:
        """The first that nobody has: of our own, or ``coming`` where its board is gone or busy."""
        return next((each for each in owed if self._is_open(each) and (self._place(each.index) is None or each == coming)), None)

    def _measure_here(self, run: Run, mine: NextRound, owed: Owed) -> None:
        self._job.session.expect(self._later(mine, owed), others=True)
        try:
            self._done[mine.index] = self._cleared(mine, self._here(self._job, run, mine))
        except WorkerFailed as failure:
            self._done[mine.index] = failure

    def _cleared(self, mine: NextRound, measured: Round) -> Round:
        """With a word of the arm that came through here, and failed on a board that is done without from now on."""
        doubt = self._doubts.pop(mine.index, None)
        if doubt is None or (word := doubt.word(mine.arms)) is None:
            return measured
        self._leave(doubt.place, word)
        return replace(measured, labels=(*measured.labels, word))

    def _await(self, coming: NextRound) -> None:
        self._job.session.clock.enter(ELSEWHERE)
        self._job.session.progress.phase(f"round {coming.index + 1}", "on another board")
        wait([self._begun[coming.index].answer])

"""The boards that a run was measured on, and how far they agree. Sentences number them, tables name them."""

from __future__ import annotations

from reports import numbers, wording
from reports.page import Table
from store.decision import BoardSpread
from store.runs.run import Run


def spread(found: BoardSpread) -> str:
    """ "2 boards: flashinfer takes 0.897 and 0.915 times the attention time of fa3; ...", with the three levels of its scatter."""
    ratios = " and ".join(numbers.ratio(board.ratio) for board in found.boards)
    return (
        f"{len(found.boards)} boards: {wording.pair(found.new)} takes {ratios} times the attention time of {wording.pair(found.old)}; "
        f"standard deviation {numbers.percent(found.between_boards)} between {_between(found.between_processes)}, "
        f"{numbers.percent(found.in_a_process)} within a process"
    )


def _between(processes: float | None) -> str:
    """Of one process on each board nobody can tell what is the board's."""
    return "boards of one process each" if processes is None else f"boards, {numbers.percent(processes)} between processes of a board"


def decides(found: BoardSpread, ranks: int) -> str | None:
    """Which of them a server of ``ranks`` waits for; None where all count alike."""
    if found.decides is None:
        return None
    place = next(number for number, board in enumerate(found.boards, 1) if board.board == found.decides)
    which = f"for {wording.pair(found.new)} board {place} of {len(found.boards)}"
    return f"decided by the slowest board, since {ranks} ranks wait for theirs: {which}"


def table(run: Run) -> Table | None:
    """None for one board."""
    if len(run.boards) < 2:
        return None
    found = run.decision.spread if run.decision else None
    ratios = {each.board: numbers.ratio(each.ratio) for each in found.boards} if found else {}
    own = run.environment.board.uuid
    counts = {board: sum((measured.board or own) == board for measured in run.rounds) for board in run.boards}
    named = f"{wording.pair(found.new)} / {wording.pair(found.old)}" if found else "ratio"
    return Table(("board", "processes", named), tuple((board, str(counts[board]), ratios.get(board, "")) for board in run.boards))
